"""`transformers serve` from vLLM's environment. Without counters, only exit codes and wall times are kept."""

from __future__ import annotations

from benchmarks.engines import vllm_cpu
from benchmarks.engines.chat import chat_steps
from benchmarks.engines.engine import MODELS, Server

SERVERS = (
    Server(
        "transformers serve",
        (str(vllm_cpu.BIN / "python"), "-c", "import transformers; print(transformers.__version__)"),
        (
            *(str(vllm_cpu.BIN / "transformers"), "serve", str(MODELS / "tiny"), "--device", "cpu"),
            *("--host", "127.0.0.1", "--port", "{port}"),
        ),
        str(MODELS / "tiny"),
        chat_steps(()),
    ),
)
install = vllm_cpu.install
