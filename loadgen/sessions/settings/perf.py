"""The options of `loadgen perf`: what can be said about a performance session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from loadgen.driver.client.protocols import names_where
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.outcome import Inconclusive
from loadgen.sessions.settings.definitions import (
    LatencyOrigin,
    PercentileMethod,
    Percentiles,
    Summary,
    TpotDenominator,
    TpotEnd,
    Verbose,
    percentiles_of,
)
from loadgen.sessions.settings.endpoint import DEFAULT_URL, ENDPOINT, EndpointSettings
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.on_invalid import HELP
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.task_names import canonical_rule
from loadgen.sessions.settings.tasks import TaskSettings

CLIENT: Final = "Client"
GENERATION: Final = "Generation"
RESULT: Final = "Result"

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000
MOST_GPUS: Final = 1_000_000
MOST_SEED: Final = 2**63 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings(TaskSettings):
    """What can be said about a performance session; field by field an option of `loadgen perf`."""

    url: Annotated[
        list[str],
        Option(
            envvar=("LOADGEN_URL",),
            help=f"Base URL, with or without /v1; repeatable. Default: {DEFAULT_URL}.",
            panel=ENDPOINT,
        ),
    ] = field(default_factory=list)
    balance: Annotated[
        Literal["round-robin", "least-in-flight"] | None,
        Option(
            help="Which of several endpoints gets a request: the next in turn (default), or the "
            "one with the fewest in flight. A conversation stays on its endpoint.",
            panel=ENDPOINT,
        ),
    ] = None
    probe: Annotated[
        bool,
        Option(help="Ask for the model list before the run.", panel=ENDPOINT),
    ] = True
    gpus: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Number of GPUs of the endpoint, for tokens per second and GPU (tps_per_gpu).",
            panel=ENDPOINT,
        ),
    ] = None

    workers: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Number of client processes. Default: by load and machine.",
            panel=CLIENT,
        ),
    ] = None
    transport: Annotated[
        Literal["native", "aiohttp"],
        Option(
            help="The HTTP client: native, which measures best, or aiohttp, which supports proxies.",
            panel=CLIENT,
        ),
    ] = "native"
    connect_ahead: Annotated[
        int,
        Option(
            metavar="N",
            help="Open N connections before the first request; native only.",
            panel=CLIENT,
        ),
    ] = 0

    max_tokens: Annotated[
        int | None,
        Option(help="Maximum of output tokens of each request.", panel=GENERATION),
    ] = None
    temperature: Annotated[
        float | None,
        Option(help="Sampling temperature.", panel=GENERATION),
    ] = None
    request_seed: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Send this seed with every request, for sampling that repeats where the server can; "
            "--seed stays with the client.",
            show_default=False,
            panel=GENERATION,
        ),
    ] = None
    stream: Annotated[
        bool,
        Option(help="Request a stream. TTFT needs one.", panel=GENERATION),
    ] = True
    extra_body: Annotated[
        str | None,
        Option(
            metavar="JSON",
            help="""Additional members of the request body, e.g. '{"top_k": 20}'.""",
            panel=GENERATION,
        ),
    ] = None

    out: Annotated[
        Path | None,
        Option(help="Folder of the run. Default: runs/<time>-<model>.", panel=RESULT),
    ] = None
    require: Annotated[
        list[str],
        Option(
            parser=canonical_rule,
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<500ms'; repeatable. Exit 1 if missed.",
            panel=RESULT,
        ),
    ] = field(default_factory=list)
    ruleset: Annotated[
        str | None,
        Option(
            metavar="NAME|FILE",
            help="A ruleset: NAME[@VERSION] (see loadgen list rulesets) or a YAML file.",
            panel=RESULT,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        Option(
            metavar="[MODEL/]SCENARIO",
            help="The scenario of the ruleset. Default: the one for this model and this load.",
            panel=RESULT,
        ),
    ] = None
    skip: Annotated[
        list[str],
        Option(
            metavar="ID|GROUP",
            help="Leave a rule, or a group of them, out; the verdict says so. Repeatable.",
            panel=RESULT,
        ),
    ] = field(default_factory=list)
    abort_on_fail: Annotated[
        bool,
        Option(
            "--abort-on-fail",
            help="End the run, with exit 1, as soon as it certainly misses a target.",
            panel=RESULT,
        ),
    ] = False
    inconclusive: Annotated[
        Inconclusive,
        Option(help="The exit code of an inconclusive verdict: 0 (pass), 1 (fail), or 5.", panel=RESULT),
    ] = "5"
    on_invalid: Annotated[
        Literal["fail", "warn"],
        Option(help=HELP, panel=RESULT),
    ] = "fail"
    percentiles: Percentiles = None
    percentile_method: PercentileMethod = None
    latency_origin: LatencyOrigin = None
    tpot_denominator: TpotDenominator = None
    tpot_end: TpotEnd = None
    summary: Summary = False
    verbose: Verbose = False
    json: Json = False
    quiet: Annotated[
        bool,
        Option("--quiet -q", help="No progress.", panel=RESULT),
    ] = False

    def __post_init__(self) -> None:
        EndpointSettings.__post_init__(self)
        self._check_urls()
        self.check_load()
        self.check_prompts(self.max_tokens)
        self.check_tasks()
        if not self.stream and self.protocol_entry.stream == "always":
            raise UsageError(
                f"--no-stream: --protocol {self.protocol} is a stream; use json for one JSON text"
            )
        self._check_request_seed()
        self._check_client()
        percentiles_of(self.percentiles)

    def _check_urls(self) -> None:
        if self.balance is not None and len(self.urls) == 1:
            raise UsageError("--balance is about several endpoints: give --url more than once")

    def _check_request_seed(self) -> None:
        seed = self.request_seed
        if seed is None:
            return
        if not -MOST_SEED - 1 <= seed <= MOST_SEED:
            raise UsageError(f"--request-seed {seed}: must be a 64-bit integer")
        entry = self.protocol_entry
        if entry.described and "{seed}" not in (self.body or ""):
            raise UsageError(
                f"--request-seed {seed}: --protocol {self.protocol} sends what --body says: put "
                'a member such as "seed": "{seed}" into it'
            )
        if not (entry.seed or entry.described):
            raise UsageError(
                f"--request-seed {seed}: --protocol {self.protocol} has no such member; "
                f"{names_where(lambda each: each.seed)} have it; elsewhere, --extra-body adds what the "
                "server knows"
            )

    def _check_client(self) -> None:
        if self.gpus is not None and not 1 <= self.gpus <= MOST_GPUS:
            raise UsageError(f"--gpus {self.gpus}: must be from 1 to {MOST_GPUS:,}")
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport != "native":
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")
