"""The options of the output: where the result goes, and how much of it is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.definition_options import Summary, TraceDetail, Verbose
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import RESULT

DEFAULT_JOB: Final = "loadgen"

NoLive = Annotated[
    bool,
    RESULT.declares(
        "On a terminal, too, a line of progress every few seconds, not a block that is rewritten.",
        "--no-live",
        stored=False,
        instead="that is --no-live of loadgen run",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputSettings:
    """Options of the output."""

    out: Path | None = RESULT.option(
        "Folder of the run, new or empty. Default: runs/<time>-<model>.",
        stored=False,
        instead="the folder of all runs is out in [run], or --out",
    )
    sample_results: Literal["jsonl", "csv", "parquet"] | None = RESULT.option(
        "Write a row per request into the run's folder: samples.jsonl, .csv or .parquet."
    )
    output: Path | None = RESULT.option(
        "Write a row per episode of agents, or else per request: .jsonl, .csv or .parquet.",
        flags="-- -o",
        metavar="FILE",
        stored=False,
        instead="a file is of one run: use sample_results",
    )
    push_gateway: str | None = RESULT.option(
        "At the end of the run, push the figures to a Prometheus Pushgateway.", metavar="URL"
    )
    push_job: str = RESULT.option("With --push-gateway: the job.", DEFAULT_JOB, metavar="NAME")
    summary: Summary = False
    verbose: Verbose = False
    trace_detail: TraceDetail = False
    json: Json = False
    quiet: bool = RESULT.switch("No progress.", "-q", stored=False, instead="that is --quiet of loadgen run")
    no_live: NoLive = False

    def __post_init__(self) -> None:
        if self.push_gateway is not None:
            from loadgen.sessions.files.target_url import gateway_url

            gateway_url(self.push_gateway)
        if self.trace_detail and self.json:
            raise UsageError("--trace-detail is text: leave --json out, or see `loadgen sql`")
        if self.push_gateway is None and self.push_job != DEFAULT_JOB:
            raise UsageError("--push-job applies only to --push-gateway URL: leave it out")
