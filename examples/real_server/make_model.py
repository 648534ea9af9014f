"""Make a tiny language model without a download: tokenizer trained at once, weights at random.

    python make_model.py FOLDER

It says gibberish, at a rate that a CPU keeps up, and always as many tokens as it is asked for. The same
versions of Python and of the libraries make the same model.
"""

from __future__ import annotations

import sys
from pathlib import Path
from pydoc_data.topics import topics

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import logging

VOCABULARY = 4096
SPECIAL_TOKENS = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}{{ message.role + ': ' + message.content + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}"
)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer on the English of the manual that comes with Python."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL_TOKENS.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(topics.values(), trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=CHAT_TEMPLATE, **SPECIAL_TOKENS)


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Build a small Llama that never says a token from `unspeakable`."""
    torch.manual_seed(0)
    tokens = {f"{name}_id": getattr(tokenizer, f"{name}_id") for name in SPECIAL_TOKENS}
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=256,
            intermediate_size=512,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=4096,
            **tokens,
        )
    )
    # Their logits are 0, and those of the others spread around 0: they are never among the 50 greatest.
    with torch.no_grad():
        model.lm_head.weight[unspeakable(tokenizer)] = 0
    model.generation_config = GenerationConfig(do_sample=True, temperature=1.0, top_k=50, **tokens)
    return model


def unspeakable(tokenizer: PreTrainedTokenizerFast) -> list[int]:
    """Tokens that would end the text early, or that hold a piece of a character.

    A server holds a piece back until the character is whole, so without these one token is one chunk.
    """
    pieces = [token for token in range(len(tokenizer)) if "\ufffd" in tokenizer.decode([token])]
    return sorted({*tokenizer.all_special_ids, *pieces})


def main() -> None:
    """Write tokenizer and model into the folder that is named."""
    logging.disable_progress_bar()
    folder = Path(sys.argv[1])
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    print(f"{folder}: {model.num_parameters():,} parameters, {len(tokenizer):,} tokens")


if __name__ == "__main__":
    main()
