"""The options of other tools that have other names here; docs/coming-from.md prints this table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.sessions.settings import other_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VLLM: Final = "vLLM"
SGLANG: Final = "SGLang"
GUIDELLM: Final = "GuideLLM"
AIPERF: Final = "AIPerf"
K6: Final = "k6"
LOCUST: Final = "Locust"
LM_EVAL: Final = "lm-eval"
TRTLLM: Final = "trtllm-bench"
LLMPERF: Final = "LLMPerf"
INSPECT: Final = "Inspect"
ENDPOINTS: Final = "MLPerf endpoints"
WRK: Final = "wrk"
HEY: Final = "hey"
VEGETA: Final = "vegeta"

Values = Literal[0, 1, "many"]


class OtherOption(NamedTuple):
    """One option of other tools.

    Attributes:
        tools: The tools with an option of this name.
        ours: Our option, with `{}` for its value; empty where there is none.
        note: The difference, or why it is not needed.
        values: How many values follow it.
        by_value: Our option for particular values, in place of `ours`.
        is_complete: Whether `ours` can be typed as it is, once its value is filled in.
        is_secret: Whether its value is not repeated in the message.
        read: Makes what to type of a value, or None where it cannot; then `ours` is the advice.
    """

    tools: tuple[str, ...]
    ours: str
    note: str = ""
    values: Values = 1
    by_value: Mapping[str, str] = {}
    is_complete: bool = True
    is_secret: bool = False
    read: Callable[[str], str | None] | None = None


_PROTOCOLS: Final = {
    f"/v1{codec_of(name, {}).path}": f"--protocol {name}"
    for name, entry in PROTOCOLS.items()
    if not entry.rooted
}
_BACKENDS: Final = {
    "openai": "--protocol completions",
    "vllm": "--protocol completions",
    "openai-chat": "--protocol chat",
    "vllm-chat": "--protocol chat",
    "sglang": "--protocol sglang",
    "sglang-oai": "--protocol completions",
    "sglang-oai-chat": "--protocol chat",
    "openai_http": "",
}
_LOADS: Final = {
    "synchronous": "--concurrency 1",
    "throughput": "--offline",
    "poisson": "",
}
_DATASETS: Final = dict.fromkeys(("random", "synthetic", "sharegpt", "custom", "hf"), "")
_NO_OPTION: Final = "no such option"

OTHER_VALUES: Final[Mapping[str, tuple[str, OtherOption]]] = {
    "--rate": ("inf", OtherOption((VLLM, SGLANG), "--offline")),
    "--data": (
        "prompt_tokens",
        OtherOption((GUIDELLM,), "--input-tokens, --output-tokens", read=other_values.synthetic_data),
    ),
}
"""Options that are here too, with a text in their value that only other tools have."""

OF_A_PROFILE: Final = OtherOption((GUIDELLM,), "--rate {}", "the values of the profile")
"""`--rate` with a profile: rates, numbers of users, or a number of steps."""

_FOLDER: Final = "one folder per run"
_FILE: Final = "the run's folder has everything; --json prints the report"

OTHER_OPTIONS: Final[Mapping[str, OtherOption]] = {
    # Where requests go.
    "--base-url": OtherOption((VLLM, SGLANG), "--url {}"),
    "--target": OtherOption((GUIDELLM,), "--url {}"),
    "--endpoints": OtherOption((ENDPOINTS,), "--url {}"),
    "--host": OtherOption(
        (VLLM, SGLANG, LOCUST), "--url {}", "the whole URL: http://HOST:PORT", read=other_values.host
    ),
    "--port": OtherOption((VLLM, SGLANG), "--url http://127.0.0.1:{}", "the whole URL: http://HOST:PORT"),
    "--endpoint": OtherOption(
        (VLLM, AIPERF), "--protocol sse --path {}", "the path follows from the protocol", by_value=_PROTOCOLS
    ),
    "--endpoint-type": OtherOption((AIPERF,), "--protocol {}"),
    "--backend": OtherOption(
        (VLLM, SGLANG, GUIDELLM), "--protocol", "the protocol", by_value=_BACKENDS, is_complete=False
    ),
    "--model-name": OtherOption((AIPERF,), "--model {}"),
    "--model-names": OtherOption((AIPERF,), "--model {}", "one model per run; a suite runs several"),
    "--served-model-name": OtherOption((VLLM, SGLANG), "--model {}"),
    "--model-args": OtherOption(
        (LM_EVAL,),
        "--url, --model",
        "each has its option",
        is_complete=False,
        read=other_values.model_args,
    ),
    "-m": OtherOption((AIPERF, GUIDELLM), "--model {}"),
    "--streaming": OtherOption((AIPERF,), "", "responses are streamed by default", values=0),
    "--disable-stream": OtherOption((SGLANG,), "--no-stream", values=0),
    "--request-timeout-seconds": OtherOption((AIPERF,), "--timeout {}s"),
    "--extra-request-body": OtherOption((SGLANG,), "--extra-body {}"),
    "--extra-inputs": OtherOption(
        (AIPERF,),
        "--extra-body JSON",
        "as one JSON object",
        values="many",
        is_complete=False,
        read=other_values.body_members,
    ),
    # How much load.
    "--request-rate": OtherOption((VLLM, SGLANG, AIPERF), "--rate {}", by_value={"inf": "--offline"}),
    "--target-qps": OtherOption((ENDPOINTS,), "--rate {}"),
    "--rps": OtherOption((K6,), "--rate {}"),
    "--num-concurrent-requests": OtherOption((LLMPERF,), "--concurrency {}"),
    "--max-connections": OtherOption((INSPECT,), "--concurrency {}"),
    "--vus": OtherOption((K6,), "--concurrency {}"),
    "--users": OtherOption((LOCUST,), "--concurrency {}"),
    "--num-concurrent": OtherOption((LM_EVAL,), "--concurrency {}"),
    "--batch-size": OtherOption((LM_EVAL,), "--concurrency {}", "of an endpoint: requests in flight"),
    "--rate-type": OtherOption(
        (GUIDELLM,), "--rate, --concurrency", "each load has its option", by_value=_LOADS, is_complete=False
    ),
    "--profile": OtherOption(
        (GUIDELLM,), "--rate, --concurrency", "each load has its option", by_value=_LOADS, is_complete=False
    ),
    "--request-rate-mode": OtherOption((AIPERF,), "--arrival {}"),
    "--arrival-pattern": OtherOption((AIPERF,), "--arrival {}"),
    "--arrival-smoothness": OtherOption((AIPERF,), "--arrival gamma --burstiness {}"),
    "--ramp-up-strategy": OtherOption(
        (VLLM,), "--rate ramp:FROM..TO,TIME", "set the time; ramp-exp for exponential", is_complete=False
    ),
    "--ramp-up-start-rps": OtherOption((VLLM,), "--rate ramp:{}..TO,TIME", is_complete=False),
    "--ramp-up-end-rps": OtherOption((VLLM,), "--rate ramp:FROM..{},TIME", is_complete=False),
    "--spawn-rate": OtherOption(
        (LOCUST,), "", "all users start at once; --rate ramp:… is a ramp of requests"
    ),
    "--stage": OtherOption((K6,), "--stages FILE", "stages are in a file", is_complete=False),
    # How long.
    "--num-prompts": OtherOption((VLLM, SGLANG), "--requests {}"),
    "--num-prompt": OtherOption((SGLANG,), "--requests {}"),
    "--n": OtherOption((SGLANG, HEY), "--requests {}"),
    "--max-num-completed-requests": OtherOption((LLMPERF,), "--requests {}"),
    "--num-requests": OtherOption((TRTLLM,), "--requests {}"),
    "--num-samples": OtherOption((ENDPOINTS,), "--requests {}"),
    "--max-requests": OtherOption((GUIDELLM,), "--requests {}"),
    "--request-count": OtherOption((AIPERF,), "--requests {}"),
    "--iterations": OtherOption((K6,), "--requests {}"),
    "--max-seconds": OtherOption((GUIDELLM,), "--duration {}"),
    "--benchmark-duration": OtherOption((AIPERF,), "--duration {}"),
    "--benchmark-grace-period": OtherOption((AIPERF,), "--drain {}s"),
    "--run-time": OtherOption((LOCUST,), "--duration {}"),
    "--min-duration": OtherOption((ENDPOINTS,), "--duration {}"),
    "--num-warmups": OtherOption((VLLM,), "--warmup {}"),
    "--warmup-requests": OtherOption((SGLANG,), "--warmup {}"),
    "--warmup-request-count": OtherOption((AIPERF,), "--warmup {}"),
    "--warmup-duration": OtherOption((AIPERF,), "--warmup {}s"),
    "--warmup-percent": OtherOption((GUIDELLM,), "--warmup", "a number or a time", is_complete=False),
    # Prompts.
    "--dataset-name": OtherOption(
        (VLLM, SGLANG), "--prompts FILE", "synthetic without it", by_value=_DATASETS, is_complete=False
    ),
    "--dataset-path": OtherOption(
        (VLLM, SGLANG), "--prompts {}", "of the hub: hf:NAME", read=other_values.prompts
    ),
    "--input-file": OtherOption((AIPERF,), "--prompts {}", "--trace, where it is a trace"),
    "--public-dataset": OtherOption((AIPERF,), "--prompts hf:NAME", is_complete=False),
    "--fixed-schedule": OtherOption((AIPERF,), "--trace FILE", values=0, is_complete=False),
    "--custom-dataset-type": OtherOption((AIPERF,), "", "the file's first line tells"),
    "--random-input-len": OtherOption((VLLM, SGLANG), "--input-tokens {}"),
    "--random-output-len": OtherOption((VLLM, SGLANG), "--output-tokens {}"),
    "--random-input": OtherOption((SGLANG,), "--input-tokens {}"),
    "--random-output": OtherOption((SGLANG,), "--output-tokens {}"),
    "--random-range-ratio": OtherOption(
        (VLLM, SGLANG), "--input-tokens uniform:LOW..HIGH", "a range has its bounds", is_complete=False
    ),
    "--random-prefix-len": OtherOption((VLLM,), "--shared-prefix {}"),
    "--flush-cache": OtherOption((SGLANG,), "--reset-cache", values=0),
    "--input-len": OtherOption((VLLM,), "--input-tokens {}"),
    "--output-len": OtherOption((VLLM,), "--output-tokens {}"),
    "--sharegpt-output-len": OtherOption((VLLM, SGLANG), "--max-tokens {}"),
    "--isl": OtherOption((AIPERF,), "--input-tokens {}"),
    "--osl": OtherOption((AIPERF,), "--output-tokens {}"),
    "--mean-input-tokens": OtherOption((LLMPERF,), "--input-tokens {}"),
    "--mean-output-tokens": OtherOption((LLMPERF,), "--output-tokens {}"),
    "--isl-stddev": OtherOption((AIPERF,), "--input-tokens normal:MEAN,{}", is_complete=False),
    "--osl-stddev": OtherOption((AIPERF,), "--output-tokens normal:MEAN,{}", is_complete=False),
    "--stddev-input-tokens": OtherOption((LLMPERF,), "--input-tokens normal:MEAN,{}", is_complete=False),
    "--stddev-output-tokens": OtherOption((LLMPERF,), "--output-tokens normal:MEAN,{}", is_complete=False),
    "--synthetic-input-tokens-mean": OtherOption((AIPERF,), "--input-tokens {}"),
    "--output-tokens-mean": OtherOption((AIPERF,), "--output-tokens {}"),
    "--synthetic-input-tokens-stddev": OtherOption(
        (AIPERF,), "--input-tokens normal:MEAN,{}", is_complete=False
    ),
    "--output-tokens-stddev": OtherOption((AIPERF,), "--output-tokens normal:MEAN,{}", is_complete=False),
    "--num-sessions": OtherOption((AIPERF,), "--sessions {}"),
    "--conversation-num": OtherOption((AIPERF,), "--sessions {}"),
    "--processor": OtherOption((GUIDELLM,), "--tokenizer {}"),
    "--apply-chat-template": OtherOption(
        (SGLANG, LM_EVAL), "--protocol chat", "the server applies it", values=0
    ),
    "--disable-ignore-eos": OtherOption((SGLANG,), "", "answers end where the model ends them", values=0),
    "--random-seed": OtherOption((AIPERF, GUIDELLM), "--seed {}"),
    # Accuracy.
    "--tasks": OtherOption(
        (LM_EVAL,), "--task {}", "`loadgen accuracy` takes them as arguments", read=other_values.tasks
    ),
    "--eval-fn": OtherOption(("bench runners",), "--eval {}"),
    "--limit": OtherOption((LM_EVAL,), "--samples {}", "a number, not a share"),
    "--num-fewshot": OtherOption((LM_EVAL,), "", f"{_NO_OPTION}: each benchmark has its official prompt"),
    "--gen-kwargs": OtherOption(
        (LM_EVAL,),
        "--temperature, --max-tokens, --extra-body",
        is_complete=False,
        read=other_values.generation,
    ),
    "--log-samples": OtherOption((LM_EVAL,), "", "the log always has them: `loadgen sql`", values=0),
    # The result.
    "--goodput": OtherOption(
        (VLLM, AIPERF),
        "--require 'good(RULES):fraction>=0.95'",
        "goodput with a target, e.g. good(ttft<500ms,tpot<50ms)",
        values="many",
        is_complete=False,
        read=other_values.objectives,
    ),
    "--metric-percentiles": OtherOption((VLLM,), "--percentiles {}"),
    "--percentile-metrics": OtherOption((VLLM,), "", "the report has all of them"),
    "--save-result": OtherOption((VLLM,), "", "every run is saved", values=0),
    "--result-dir": OtherOption((VLLM,), "--out {}/NAME", _FOLDER),
    "--result-filename": OtherOption((VLLM,), "", _FILE),
    "--results-dir": OtherOption((LLMPERF,), "--out {}/NAME", _FOLDER),
    "--report-dir": OtherOption((ENDPOINTS,), "--out {}/NAME", _FOLDER),
    "--output-dir": OtherOption((GUIDELLM,), "--out {}/NAME", _FOLDER),
    "--log-dir": OtherOption((INSPECT,), "--out {}/NAME", _FOLDER),
    "--artifact-dir": OtherOption((AIPERF,), "--out {}/NAME", _FOLDER),
    "--output-artifact-dir": OtherOption((AIPERF,), "--out {}/NAME", _FOLDER),
    "--output-file": OtherOption((SGLANG,), "", _FILE),
    "--output-path": OtherOption((GUIDELLM, LM_EVAL), "", _FILE),
    "--workers-max": OtherOption((AIPERF,), "--workers {}"),
    "--disable-tqdm": OtherOption((VLLM, SGLANG), "--quiet", values=0),
}
"""By its name, with hyphens: a name with underscores is the same option."""
