"""The commands of other tools, by their first words, and the options that mean something else there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from loadgen.sessions.settings import other_values
from loadgen.sessions.settings.foreign_options import (
    AIPERF,
    ENDPOINTS,
    GUIDELLM,
    HEY,
    INSPECT,
    K6,
    LLMPERF,
    LM_EVAL,
    LOCUST,
    SGLANG,
    VEGETA,
    VLLM,
    WRK,
    OtherOption,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class OtherCommand(NamedTuple):
    """A command of another tool.

    Attributes:
        tool: The tool.
        ours: Our command.
        options: Options by the names of this tool, before `OTHER_OPTIONS` and our own.
        argument: What to type for an argument, with `{}` for it; empty to leave it out.
        reads_argument: Makes what to type of an argument, in place of `argument`.
        adds: What to type in addition, such as a scenario that the command's name has.
        load: The load where no option gives one.
    """

    tool: str
    ours: str
    options: Mapping[str, OtherOption] = {}
    argument: str = ""
    reads_argument: Callable[[str], str] | None = None
    adds: str = ""
    load: str = ""


def _options(tool: str, ours: Mapping[str, str]) -> dict[str, OtherOption]:
    """Options with a value each."""
    return {name: OtherOption((tool,), typed) for name, typed in ours.items()}


_HEADERS: Final = "--header NAME=VALUE; a key in LOADGEN_API_KEY"

_GUIDELLM: Final = {
    "--data": OtherOption((GUIDELLM,), "--prompts FILE", read=other_values.synthetic_data),
    "--rate": OtherOption((GUIDELLM,), "--rate {}"),
    **_options(GUIDELLM, {"--max-duration": "--duration {}", "--output-dir": "--out {}/NAME"}),
    "--outputs": OtherOption((GUIDELLM,), "", "the run's folder has everything"),
    "--backend-kwargs": OtherOption((GUIDELLM,), "", "no such option"),
}
_AIPERF: Final = {
    "-u": OtherOption((AIPERF,), "--url {}", read=other_values.url),
    "--url": OtherOption((AIPERF,), "--url {}", read=other_values.url),
    **_options(AIPERF, {"-m": "--model {}", "--measurement-interval": ""}),
    "--service-kind": OtherOption((AIPERF,), ""),
    "--ui": OtherOption((AIPERF,), ""),
    "--tokenizer": OtherOption((AIPERF,), "--tokenizer {}"),
}
_K6: Final = {
    **_options(K6, {"-u": "--concurrency {}", "-i": "--requests {}", "-d": "--duration {}"}),
    "-s": OtherOption((K6,), "--stages FILE", "stages are in a file", is_complete=False),
}
_LOCUST: Final = {
    **_options(LOCUST, {"-u": "--concurrency {}", "-t": "--duration {}", "-f": "", "--locustfile": ""}),
    "-r": OtherOption((LOCUST,), "", "all users start at once"),
    "-H": OtherOption((LOCUST,), "--url {}", read=other_values.url),
    "--headless": OtherOption((LOCUST,), "", values=0),
}
_WRK: Final = {
    **_options(WRK, {"-c": "--concurrency {}", "-d": "--duration {}", "-R": "--rate {}", "-s": ""}),
    "--connections": OtherOption((WRK,), "--concurrency {}"),
    "-t": OtherOption((WRK,), "", "the number of threads is automatic"),
    "--threads": OtherOption((WRK,), "", "the number of threads is automatic"),
    "--latency": OtherOption((WRK,), "", "the report has them", values=0),
}
_HEY: Final = {
    **_options(
        HEY, {"-n": "--requests {}", "-c": "--concurrency {}", "-z": "--duration {}", "-t": "--timeout {}"}
    ),
    **_options(HEY, {"-m": "", "-d": "", "-D": "", "-T": ""}),
    "-H": OtherOption((HEY,), "", _HEADERS, is_secret=True),
    "-q": OtherOption((HEY,), "", "a rate for each worker; --rate is for all of them"),
}
_VEGETA: Final = {
    "-header": OtherOption((VEGETA,), "", _HEADERS, is_secret=True),
    "-rate": OtherOption((VEGETA,), "--rate {}", read=other_values.per_second),
    **_options(VEGETA, {"-duration": "--duration {}", "-timeout": "--timeout {}", "-max-workers": ""}),
    **_options(VEGETA, {"-targets": "", "-body": "", "-output": "", "-workers": ""}),
}
_LM_EVAL: Final = {
    "--model": OtherOption((LM_EVAL,), "", "the kind of model: here each endpoint has a --protocol"),
    **_options(
        LM_EVAL, {"-t": "--task {}", "-b": "--concurrency {}", "-l": "--samples {}", "-o": "", "-f": ""}
    ),
    "-L": OtherOption((LM_EVAL,), "--samples {}"),
    "--model-args": OtherOption((LM_EVAL,), "--url, --model", read=other_values.model_args),
    "-a": OtherOption((LM_EVAL,), "--url, --model", read=other_values.model_args),
}
_INSPECT: Final = {
    "--model": OtherOption(
        (INSPECT,), "--model {}", read=lambda name: f"--model {name.partition('/')[2] or name}"
    ),
    "--model-base-url": OtherOption((INSPECT,), "--url {}", read=other_values.url),
    "--epochs": OtherOption((INSPECT,), "--repeats {}"),
}
_LLMPERF: Final = {
    "--llm-api": OtherOption((LLMPERF,), "", "the protocol is --protocol"),
    "--additional-sampling-params": OtherOption((LLMPERF,), "--extra-body {}"),
    "--metadata": OtherOption((LLMPERF,), ""),
}
_ENDPOINTS: Final = {
    "--dataset": OtherOption((ENDPOINTS,), "--prompts {}"),
    "--load-pattern": OtherOption((ENDPOINTS,), "", "the load follows from --rate and --concurrency"),
    "--num-workers": OtherOption((ENDPOINTS,), "--workers {}"),
    "--duration": OtherOption((ENDPOINTS,), "--duration {}"),
    "-v": OtherOption((ENDPOINTS,), "", values=0),
}
_VLLM: Final = {
    "-n": OtherOption((VLLM,), "--requests {}"),
    "--burstiness": OtherOption((VLLM,), "--arrival gamma --burstiness {}", by_value={"1": "", "1.0": ""}),
}

_GUIDELLM_RUN: Final = OtherCommand(GUIDELLM, "perf", _GUIDELLM)
_AIPERF_RUN: Final = OtherCommand(AIPERF, "perf", _AIPERF)
_LM_EVAL_RUN: Final = OtherCommand(LM_EVAL, "accuracy", _LM_EVAL)
_INSPECT_RUN: Final = OtherCommand(INSPECT, "accuracy", _INSPECT, reads_argument=other_values.inspect_task)
_VLLM_RUN: Final = OtherCommand(VLLM, "perf", _VLLM, load="--offline")
_SGLANG_RUN: Final = OtherCommand(SGLANG, "perf", _VLLM, load="--offline")
_OFFLINE: Final = OtherCommand(ENDPOINTS, "perf", _ENDPOINTS, adds="--offline")
_ONLINE: Final = OtherCommand(ENDPOINTS, "perf", _ENDPOINTS)

OTHER_COMMANDS: Final[Mapping[str, OtherCommand]] = {
    "vllm bench serve": _VLLM_RUN,
    "vllm bench throughput": _VLLM_RUN,
    "bench serve": _VLLM_RUN,
    "bench throughput": _VLLM_RUN,
    "benchmark-serving": _VLLM_RUN,
    "sglang.bench-serving": _SGLANG_RUN,
    "bench-serving": _SGLANG_RUN,
    "guidellm benchmark run": _GUIDELLM_RUN,
    "guidellm benchmark": _GUIDELLM_RUN,
    "guidellm": _GUIDELLM_RUN,
    "benchmark run": _GUIDELLM_RUN,
    "benchmark": _GUIDELLM_RUN,
    "aiperf profile": _AIPERF_RUN,
    "genai-perf profile": _AIPERF_RUN,
    "genai-perf": _AIPERF_RUN,
    "profile": _AIPERF_RUN,
    "token-benchmark-ray": OtherCommand(LLMPERF, "perf", _LLMPERF),
    "k6 run": OtherCommand(K6, "perf", _K6),
    "locust": OtherCommand(LOCUST, "perf", _LOCUST),
    "wrk": OtherCommand(WRK, "perf", _WRK, argument="--url {}"),
    "wrk2": OtherCommand(WRK, "perf", _WRK, argument="--url {}"),
    "hey": OtherCommand(HEY, "perf", _HEY, argument="--url {}"),
    "vegeta attack": OtherCommand(VEGETA, "perf", _VEGETA),
    "attack": OtherCommand(VEGETA, "perf", _VEGETA),
    "lm-eval run": _LM_EVAL_RUN,
    "lm-eval": _LM_EVAL_RUN,
    "inspect eval": _INSPECT_RUN,
    "eval": _INSPECT_RUN,
    "inference-endpoint benchmark offline": _OFFLINE,
    "inference-endpoint benchmark online": _ONLINE,
    "benchmark offline": _OFFLINE,
    "benchmark online": _ONLINE,
}
"""By their first words: without a path, `.py` and the interpreter, and with hyphens for underscores."""
