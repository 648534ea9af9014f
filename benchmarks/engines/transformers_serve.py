"""`transformers serve` from vLLM's environment. Without counters, only exit codes and wall times are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.engines import vllm_cpu
from benchmarks.engines.chat import chat_steps, image_steps
from benchmarks.engines.engine import MODELS, Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.engines.engine import Step


def serving(name: str, model: str, steps: Sequence[Step]) -> Server:
    """A server of one model."""
    return Server(
        name,
        (str(vllm_cpu.BIN / "python"), "-c", "import transformers; print(transformers.__version__)"),
        (
            *(str(vllm_cpu.BIN / "transformers"), "serve", str(MODELS / model), "--device", "cpu"),
            *("--host", "127.0.0.1", "--port", "{port}"),
        ),
        str(MODELS / model),
        steps,
    )


SERVERS = (
    serving("transformers serve", "tiny", chat_steps(())),
    serving("transformers serve, Qwen2-VL", "qwen2-vl", image_steps(())),
)
install = vllm_cpu.install
