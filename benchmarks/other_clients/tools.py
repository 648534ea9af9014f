"""Clients that measure LLM endpoints: package, command for a closed loop, and figures."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MODEL: Final = "bench"
PROMPT_TOKENS: Final = 32


@dataclass(frozen=True, slots=True)
class Task:
    """A closed loop of chat requests with streamed answers.

    Attributes:
        url: The base URL, without `/v1`.
        streams: Requests in flight at once.
        requests: How many in total.
        tokens: The length of an answer.
        folder: Where results go; it has the folder `tokenizer`.
    """

    url: str
    streams: int
    requests: int
    tokens: int
    folder: Path

    @property
    def tokenizer(self) -> str:
        """The folder of the tokenizer."""
        return str(self.folder / "tokenizer")


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a client; None for a figure that the client does not report.

    Attributes:
        completed: Requests that succeeded.
        output_tokens: Their output tokens.
        requests_s: Completed requests per second.
        ttft_p50_ms: Median of TTFT.
        ttft_p99_ms: 99th percentile of TTFT.
        tpot_ms: Mean of TPOT.
    """

    completed: int
    output_tokens: int | None = None
    requests_s: float | None = None
    ttft_p50_ms: float | None = None
    ttft_p99_ms: float | None = None
    tpot_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A client.

    Attributes:
        package: What pip installs, with its version; empty for what is installed already.
        program: Where its program is in an environment, as a glob pattern.
        command: Its arguments after the name of its program.
        figures: Reads the figures of a task.
        python: The least version of Python.
    """

    package: str
    program: str
    command: Callable[[Task], Sequence[str]]
    figures: Callable[[Task], Figures]
    python: tuple[int, int] = (3, 11)


def _read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _only(task: Task, pattern: str) -> Any:
    (path,) = task.folder.glob(pattern)
    return _read(path)


def _loadgen(task: Task) -> Sequence[str]:
    command = ["perf", "--url", task.url, "--model", MODEL, "-c", str(task.streams), "-n", str(task.requests)]
    return [
        *command,
        "--max-tokens",
        str(task.tokens),
        "--quiet",
        "--no-probe",
        "--out",
        f"{task.folder}/run",
    ]


def _loadgen_figures(task: Task) -> Figures:
    report = _read(task.folder / "run" / "report.json")
    ttft, tpot = (report.get(name) or {} for name in ("ttft_ms", "tpot_ms"))
    return Figures(
        report["counts"]["completed"],
        report["tokens"]["output"],
        report["throughput"]["qps"],
        ttft.get("p50"),
        ttft.get("p99"),
        tpot.get("mean"),
    )


def _vllm_rs(task: Task) -> Sequence[str]:
    (task.folder / "prompts.jsonl").write_text(json.dumps({"prompt": "w1 " * PROMPT_TOKENS}))
    command = ["bench", "serve", "--backend", "openai-chat", "--base-url", task.url, "--model", MODEL]
    command += ["--endpoint", "/v1/chat/completions", "--tokenizer", task.tokenizer, "--disable-tqdm"]
    command += ["--dataset-name", "custom", "--dataset-path", f"{task.folder}/prompts.jsonl"]
    command += ["--custom-output-len", str(task.tokens), "--num-prompts", str(task.requests)]
    command += ["--max-concurrency", str(task.streams), "--save-result"]
    return [*command, "--result-dir", str(task.folder), "--result-filename", "result.json"]


VLLM_BENCH_SERVE: Final = """
from vllm.benchmarks.serve import add_cli_args, main
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = FlexibleArgumentParser()
add_cli_args(parser)
main(parser.parse_args())
"""
"""`vllm bench serve` without the other commands, which load the engine."""


def _vllm(task: Task) -> Sequence[str]:
    return ["-c", VLLM_BENCH_SERVE, *_vllm_rs(task)[2:], "--ready-check-timeout-sec", "0"]


def _sglang(task: Task) -> Sequence[str]:
    return ["-m", "sglang.benchmark.serving", *_sglang_options(task)]


def _sglang_rust(task: Task) -> Sequence[str]:
    return ["-m", "sglang.benchmark.rust_client", *_sglang_options(task), "--worker-threads", "1"]


def _sglang_options(task: Task) -> Sequence[str]:
    options = ["--backend", "sglang-oai-chat", "--base-url", task.url, "--model", MODEL]
    options += ["--tokenizer", task.tokenizer, "--dataset-name", "random-ids", "--random-range-ratio", "1"]
    options += ["--random-input-len", str(PROMPT_TOKENS), "--random-output-len", str(task.tokens)]
    options += ["--num-prompts", str(task.requests), "--max-concurrency", str(task.streams)]
    options += ["--warmup-requests", "0", "--ready-check-timeout-sec", "0", "--disable-tqdm"]
    options += ["--extra-request-body", '{"stream_options": {"include_usage": true}}']
    return [*options, "--output-file", f"{task.folder}/result.json"]


def _bench_figures(task: Task) -> Figures:
    """The figures of vLLM's clients and SGLang's, which write the same names."""
    result = _read(task.folder / "result.json")
    names = ("total_output_tokens", "request_throughput", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms")
    return Figures(result["completed"], *map(result.get, names))


def _guidellm(task: Task) -> Sequence[str]:
    return [
        *(
            "run",
            "--backend",
            f"kind=openai_http,target={task.url},model={MODEL},validate_backend=false",
            "--disable-progress",
        ),
        *("--profile", f"kind=concurrent,streams={task.streams}"),
        *("--constraint", f"kind=max_requests,count={task.requests}"),
        *("--tokenizer", f"kind=huggingface_auto,model={task.tokenizer}"),
        *("--data", f"kind=synthetic_text,prompt_tokens={PROMPT_TOKENS},output_tokens={task.tokens}"),
        *("--output", f"kind=json,path={task.folder}/guidellm.json"),
    ]


def _guidellm_figures(task: Task) -> Figures:
    metrics = _read(task.folder / "guidellm.json")["benchmarks"][0]["metrics"]
    ttft, tpot, tokens = (
        metrics[name]["successful"]
        for name in ("time_to_first_token_ms", "inter_token_latency_ms", "output_token_count")
    )
    completed = metrics["request_totals"]["successful"]
    percentiles = ttft["percentiles"] or {}
    figures = percentiles.get("p50"), percentiles.get("p99"), tpot["mean"]
    rate = metrics["requests_per_second"]["successful"]["mean"]
    return Figures(completed, round((tokens["mean"] or 0) * completed), rate, *figures)


def _aiperf(task: Task) -> Sequence[str]:
    command = ["profile", "-m", MODEL, "--url", task.url, "--endpoint-type", "chat", "--streaming"]
    command += [
        "--use-server-token-count",
        "--concurrency",
        str(task.streams),
        "--request-count",
        str(task.requests),
        "--ui",
        "none",
    ]
    command += ["--tokenizer", task.tokenizer, "--isl", str(PROMPT_TOKENS), "--osl", str(task.tokens)]
    return [*command, "--output-artifact-dir", f"{task.folder}/aiperf"]


def _aiperf_figures(task: Task) -> Figures:
    export = _read(task.folder / "aiperf" / "profile_export_aiperf.json")

    def of(name: str, figure: str = "avg") -> float | None:
        value: float | None = (export.get(name) or {}).get(figure)
        return value

    ttft = of("time_to_first_token", "p50"), of("time_to_first_token", "p99")
    tokens = round(of("total_osl") or 0)  # with those of reasoning
    counts = round(of("request_count") or 0), tokens, of("request_throughput")
    return Figures(*counts, *ttft, of("inter_token_latency"))


def _evalscope(task: Task) -> Sequence[str]:
    command = ["perf", "--model", MODEL, "--url", f"{task.url}/v1/chat/completions", "--api", "openai"]
    command += ["--dataset", "random", "--tokenizer-path", task.tokenizer, "--stream", "--no-test-connection"]
    command += ["--min-prompt-length", str(PROMPT_TOKENS), "--max-prompt-length", str(PROMPT_TOKENS)]
    command += ["--number", str(task.requests), "--parallel", str(task.streams)]
    return [*command, "--max-tokens", str(task.tokens), "--outputs-dir", f"{task.folder}/evalscope"]


def _evalscope_figures(task: Task) -> Figures:
    summary = _only(task, "evalscope/*/*/parallel_*/benchmark_summary.json")
    rows = _only(task, "evalscope/*/*/parallel_*/benchmark_percentile.json")
    ttft: Mapping[str, float] = {row["Percentiles"]: row["TTFT (ms)"] for row in rows}
    completed = summary["Success Requests"]
    tokens = round(completed * (summary.get("Avg Output Tokens") or 0))
    times = ttft.get("50%"), ttft.get("99%"), summary.get("Avg TPOT (ms)")
    return Figures(completed, tokens, summary.get("Req Throughput (req/s)"), *times)


def _genai_bench(task: Task) -> Sequence[str]:
    command = ["benchmark", "--api-backend", "openai", "--api-base", task.url, "--api-key", "none"]
    command += ["--task", "text-to-text", "--api-model-name", MODEL, "--model-tokenizer", task.tokenizer]
    command += ["--server-engine", "vLLM", "--num-concurrency", str(task.streams), "--max-time-per-run", "2"]
    command += ["--traffic-scenario", f"D({PROMPT_TOKENS},{task.tokens})"]
    command += ["--max-requests-per-run", str(task.requests)]
    return [*command, "--experiment-base-dir", str(task.folder), "--experiment-folder-name", "genai"]


def _genai_bench_figures(task: Task) -> Figures:
    result = _only(task, "genai/D*_text-to-text_*.json")["aggregated_metrics"]
    stats = result["stats"]
    seconds = stats["ttft"]["p50"], stats["ttft"]["p99"], stats["tpot"]["mean"]
    times_ms = (None if value is None else value * 1e3 for value in seconds)
    completed = result["num_completed_requests"] - result["num_error_requests"]
    tokens = round(stats["num_output_tokens"]["sum"] or 0)
    return Figures(completed, tokens, result["requests_per_second"], *times_ms)


def _inference_perf(task: Task) -> Sequence[str]:
    config = {
        "api": {"type": "chat", "streaming": True},
        "server": {"type": "vllm", "model_name": MODEL, "base_url": task.url, "ignore_eos": True},
        "tokenizer": {"pretrained_model_name_or_path": task.tokenizer},
        "data": {"type": "mock"},  # the one kind of made-up prompts that it sends as chat
        "load": {
            "type": "concurrent",
            "stages": [{"num_requests": task.requests, "concurrency_level": task.streams}],
        },
        "report": {"request_lifecycle": {"use_server_output_tokens": True}},
        "storage": {"local_storage": {"path": f"{task.folder}/inference-perf"}},
    }
    path = task.folder / "inference-perf.json"
    path.write_text(json.dumps(config))
    return ["-c", str(path)]


def _inference_perf_figures(task: Task) -> Figures:
    summary = _only(task, "inference-perf/summary_lifecycle_metrics.json")
    successes = summary["successes"]
    latency = successes.get("latency") or {}
    ttft, tpot = (latency.get(name) or {} for name in ("time_to_first_token", "time_per_output_token"))
    times = (ttft.get("median"), ttft.get("p99"), tpot.get("mean"))
    times_ms = (None if value is None else value * 1e3 for value in times)
    tokens = round((successes.get("output_len") or {}).get("mean", 0) * successes["count"])
    rate = (successes.get("throughput") or {}).get("requests_per_sec")
    return Figures(successes["count"], tokens, rate, *times_ms)


def _mlperf(task: Task) -> Sequence[str]:
    prompt = json.dumps({"prompt": "w1 " * PROMPT_TOKENS})
    (task.folder / "prompts.jsonl").write_text(f"{prompt}\n" * task.requests)
    command = ["benchmark", "online", "--endpoints", task.url, "--model", MODEL, "--duration", "0"]
    command += ["--tokenizer", task.tokenizer, "--dataset", f"perf:{task.folder}/prompts.jsonl"]
    command += ["--load-pattern", "concurrency", "--concurrency", str(task.streams), "--streaming", "on"]
    command += ["--num-samples", str(task.requests), "--max-output-tokens", str(task.tokens)]
    return [*command, "--workers", "1", "--no-cpu-affinity", "--report-dir", f"{task.folder}/mlperf"]


def _mlperf_figures(task: Task) -> Figures:
    result = _only(task, "mlperf/performance/result_summary.json")
    completed = result["n_samples_completed"] - result["n_samples_failed"]
    ttft, tpot = result["ttft"], result["tpot"]
    times_ns = (ttft.get("median"), ttft.get("percentiles", {}).get("99.0"), tpot.get("avg"))
    times_ms = (None if value is None else value / 1e6 for value in times_ns)
    tokens = result["output_sequence_lengths"].get("total")
    return Figures(completed, tokens, result["qps"], *times_ms)


_VLLM: Final = "vllm[bench]==0.33.0"
_SGLANG: Final = "sglang==0.5.23"
_MLPERF: Final = (
    "inference-endpoint @ git+https://github.com/mlcommons/endpoints@ea3327530376fef63d706f4105612e17c2c80a8d"
)

TOOLS: Final[Mapping[str, Tool]] = {
    "loadgen": Tool("", str(Path(sys.executable).with_name("loadgen")), _loadgen, _loadgen_figures),
    "vllm-rs": Tool(_VLLM, "lib/python*/site-packages/vllm/vllm-rs", _vllm_rs, _bench_figures),
    "vLLM": Tool(_VLLM, "bin/python", _vllm, _bench_figures),
    "SGLang": Tool(_SGLANG, "bin/python", _sglang, _bench_figures),
    "SGLang (Rust)": Tool(_SGLANG, "bin/python", _sglang_rust, _bench_figures),
    "GuideLLM": Tool("guidellm==0.8.1", "bin/guidellm", _guidellm, _guidellm_figures),
    "AIPerf": Tool("aiperf==0.13.0", "bin/aiperf", _aiperf, _aiperf_figures),
    "EvalScope": Tool("evalscope[perf]==1.14.1", "bin/evalscope", _evalscope, _evalscope_figures),
    "genai-bench": Tool("genai-bench==0.0.5", "bin/genai-bench", _genai_bench, _genai_bench_figures),
    "inference-perf": Tool(
        "inference-perf==0.7.0",
        "bin/inference-perf",
        _inference_perf,
        _inference_perf_figures,
        python=(3, 12),
    ),
    "MLPerf Endpoints": Tool(_MLPERF, "bin/inference-endpoint", _mlperf, _mlperf_figures, python=(3, 12)),
}
