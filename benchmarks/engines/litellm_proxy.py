"""A LiteLLM proxy in front of llama.cpp's server, with the counters of that server."""

from __future__ import annotations

from benchmarks.engines import llama_cpp
from benchmarks.engines.chat import chat_steps
from benchmarks.engines.engine import BUILD, Server, environment

BIN = BUILD / "litellm" / "bin"
SERVERS = (
    Server(
        "LiteLLM, llama.cpp",
        (str(BIN / "python"), "-c", "from importlib.metadata import version; print(version('litellm'))"),
        (
            *(str(BIN / "litellm"), "--model", "openai/tiny", "--api_base", "{backend}/v1"),
            *("--host", "127.0.0.1", "--port", "{port}", "--telemetry", "False"),
        ),
        "openai/tiny",  # as the proxy lists it
        chat_steps(llama_cpp.PAIRS[:2], "--ignore-eos"),
        {
            "OPENAI_API_KEY": "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        },
        ready="/health/liveliness",
        behind=llama_cpp.SERVERS[0],
    ),
)


def install() -> None:
    """Make the environments of the proxy and of the server behind the proxy."""
    llama_cpp.install()
    environment("litellm")
