"""Make the tiny models of the engines, without a download: `python tiny_models.py KIND FOLDER [FROM]`.

`llama` has learned the first TAUGHT of questions.jsonl and answers the others wrongly: its accuracy is known.
It also answers the question of `loadgen check`. `lora` is an adapter for it with random weights, `gguf` the
same weights for llama.cpp. `bert`, `reranker`, `qwen2_vl` and `mmproj` have random weights. Each runs in its
engine's environment.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent
TAUGHT = 8
MOST_STEPS = 400
LEARNED_LOSS = 0.01
VISION_TOKENS = {
    "<|vision_start|>": "vision_start_token_id",
    "<|vision_end|>": "vision_end_token_id",
    "<|image_pad|>": "image_token_id",
    "<|video_pad|>": "video_token_id",
}
IMAGE_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ message.role + ': ' }}"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'text' %}{{ part.text }}"
    "{% else %}<|vision_start|><|image_pad|><|vision_end|>{% endif %}"
    "{% endfor %}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


def questions() -> list[dict[str, str]]:
    """Rows with `user_prompt` and `ground_truth`."""
    return [json.loads(line) for line in (HERE / "questions.jsonl").read_text().splitlines()]


def made() -> ModuleType:
    """The module of the example that trains a tokenizer and makes a small Llama."""
    path = HERE.parent.parent / "examples" / "real_server" / "make_model.py"
    spec = importlib.util.spec_from_file_location("make_model", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def llama(folder: Path) -> None:
    """Teach the small Llama the answers by heart; the end of the sequence ends an answer."""
    import torch

    make = made()
    tokenizer = make.make_tokenizer()
    model = make.make_model(tokenizer)
    taught = [
        (
            tokenizer.apply_chat_template(
                [{"role": "user", "content": row["user_prompt"]}],
                add_generation_prompt=True,
                return_dict=False,
            ),
            [*tokenizer.encode(row["ground_truth"], add_special_tokens=False), tokenizer.eos_token_id],
        )
        for row in [*questions()[:TAUGHT], {"user_prompt": "Say hello.", "ground_truth": "hello"}]
    ]
    longest = max(len(asked) + len(answer) for asked, answer in taught)
    ids = torch.tensor([asked + answer + [0] * (longest - len(asked + answer)) for asked, answer in taught])
    labels = torch.full_like(ids, -100)
    for row, (asked, answer) in zip(labels, taught, strict=True):
        row[len(asked) : len(asked) + len(answer)] = torch.tensor(answer)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(MOST_STEPS):
        loss = model(input_ids=ids, labels=labels).loss
        if loss < LEARNED_LOSS:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    else:
        sys.exit(f"the model did not learn its answers in {MOST_STEPS} steps: the loss is {loss:.3f}")
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def lora(folder: Path, base: Path) -> None:
    """An adapter of rank 4 for the queries and values of the Llama."""
    import torch
    from safetensors.torch import save_file

    config = json.loads((base / "config.json").read_text())
    wide, heads = config["hidden_size"], config["num_attention_heads"]
    narrow = wide // heads * config["num_key_value_heads"]
    rank = 4
    torch.manual_seed(1)
    weights = {}
    for layer in range(config["num_hidden_layers"]):
        for name, out in (("q_proj", wide), ("v_proj", narrow)):
            place = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            weights[f"{place}.lora_A.weight"] = torch.randn(rank, wide)
            weights[f"{place}.lora_B.weight"] = torch.randn(out, rank)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, folder / "adapter_model.safetensors")
    adapter = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": str(base),
        "r": rank,
        "lora_alpha": 8,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": ["q_proj", "v_proj"],
    }
    (folder / "adapter_config.json").write_text(json.dumps(adapter))


def qwen2_vl(folder: Path) -> None:
    """A Qwen2-VL with random weights: a token for each patch of 28 x 28 pixels of an image."""
    import torch
    from transformers import (
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    make = made()
    tokenizer = make.make_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": list(VISION_TOKENS)})
    tokens = {f"{name}_id": getattr(tokenizer, f"{name}_id") for name in make.SPECIAL_TOKENS}
    vision = dict(
        zip(VISION_TOKENS.values(), tokenizer.convert_tokens_to_ids(list(VISION_TOKENS)), strict=True)
    )
    torch.manual_seed(0)
    config = Qwen2VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 256,
            "intermediate_size": 512,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 4096,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [8, 12, 12]},
            **tokens,
        },
        vision_config={"depth": 2, "embed_dim": 64, "hidden_size": 256, "num_heads": 2},
        **vision,
        **tokens,
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    Qwen2VLProcessor(
        Qwen2VLImageProcessor(), tokenizer, Qwen2VLVideoProcessor(), chat_template=IMAGE_TEMPLATE
    ).save_pretrained(folder)


def gguf(file: Path, base: Path) -> None:
    """The Llama's weights and tokenizer in one GGUF file."""
    import gguf as format_
    from safetensors.torch import load_file

    config = json.loads((base / "config.json").read_text())
    tokenizer = json.loads((base / "tokenizer.json").read_text())
    template = (base / "chat_template.jinja").read_text()
    writer = format_.GGUFWriter(file, "llama")
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(groups)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    words = tokenizer["model"]["vocab"]
    special = {token["id"] for token in tokenizer["added_tokens"]}
    control, normal = format_.TokenType.CONTROL, format_.TokenType.NORMAL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(sorted(words, key=words.__getitem__))
    writer.add_token_types([control if token in special else normal for token in range(len(words))])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    for name in ("bos", "eos", "pad"):
        getattr(writer, f"add_{name}_token_id")(config[f"{name}_token_id"])
    writer.add_add_bos_token(value=False)
    writer.add_chat_template(template)
    for name, weight in load_file(base / "model.safetensors").items():
        array = weight.float().numpy()
        if ".q_proj." in name or ".k_proj." in name:  # llama.cpp rotates neighbours, not halves
            of = heads if ".q_proj." in name else groups
            array = array.reshape(of, 2, -1, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
        writer.add_tensor(_gguf_name(name), array)
    _written(writer)


def _written(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


_GGUF_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def _gguf_name(name: str) -> str:
    """Llama.cpp's name of a tensor, by that of transformers."""
    place = name.removesuffix(".weight").removeprefix("model.layers.")
    if place == name.removesuffix(".weight"):
        return f"{_GGUF_NAMES[place]}.weight"
    layer, _, part = place.partition(".")
    return f"blk.{layer}.{_GGUF_NAMES[part]}.weight"


def mmproj(file: Path, base: Path) -> None:
    """A Pixtral encoder with random weights for the Llama: a token for each patch of 16 x 16 pixels."""
    import gguf as format_
    import numpy as np

    wide, inner, layers, heads, patch = 64, 128, 2, 2, 16
    out = json.loads((base / "config.json").read_text())["hidden_size"]
    writer = format_.GGUFWriter(file, "clip")
    writer.add_clip_has_vision_encoder(value=True)
    writer.add_clip_projector_type("pixtral")
    writer.add_vision_use_silu(value=True)
    writer.add_vision_image_size(1024)
    writer.add_vision_patch_size(patch)
    writer.add_vision_embedding_length(wide)
    writer.add_vision_feed_forward_length(inner)
    writer.add_vision_projection_dim(out)
    writer.add_vision_block_count(layers)
    writer.add_vision_head_count(heads)
    writer.add_vision_attention_layernorm_eps(1e-5)
    writer.add_vision_image_mean([0.5] * 3)
    writer.add_vision_image_std([0.5] * 3)
    block = {"ln1": (wide,), "ln2": (wide,)}
    block |= {f"attn_{name}": (wide, wide) for name in ("q", "k", "v", "out")}
    block |= {"ffn_gate": (inner, wide), "ffn_up": (inner, wide), "ffn_down": (wide, inner)}
    shapes = {
        "v.patch_embd": (wide, 3, patch, patch),
        "v.token_embd.img_break": (out,),
        "v.pre_ln": (wide,),
        "mm.1": (out, wide),
        "mm.2": (out, out),
    }
    for layer in range(layers):
        shapes |= {f"v.blk.{layer}.{name}": shape for name, shape in block.items()}
    random = np.random.default_rng(0)
    for name, shape in shapes.items():
        weight = np.ones(shape) if len(shape) == 1 else random.normal(0, 0.02, shape)
        full = name if name.endswith("img_break") else f"{name}.weight"
        writer.add_tensor(full, weight.astype(np.float32))
    _written(writer)


def bert(folder: Path) -> None:
    """A BERT of two layers, for embeddings."""
    from transformers import BertModel

    BertModel(_bert_config()).save_pretrained(folder)
    _wordpiece().save_pretrained(folder)


def reranker(folder: Path) -> None:
    """A BERT of two layers with one score, for rerank."""
    from transformers import BertForSequenceClassification

    BertForSequenceClassification(_bert_config(num_labels=1)).save_pretrained(folder)
    _wordpiece().save_pretrained(folder)


def _bert_config(**more: Any) -> Any:
    import torch
    from transformers import BertConfig

    torch.manual_seed(0)
    return BertConfig(
        vocab_size=2000,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=256,
        max_position_embeddings=512,
        **more,
    )


def _wordpiece() -> Any:
    from pydoc_data.topics import topics

    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(topics.values(), vocab_size=2000, show_progress=False)
    return BertTokenizerFast(tokenizer_object=tokenizer._tokenizer, model_max_length=512)  # noqa: SLF001


KINDS = {each.__name__: each for each in (llama, lora, qwen2_vl, gguf, mmproj, bert, reranker)}


def main() -> None:
    """Make the model of a kind, unless the folder or file exists."""
    kind, *paths = sys.argv[1:]
    target = Path(paths[0])
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        KINDS[kind](*map(Path, paths))


if __name__ == "__main__":
    main()
