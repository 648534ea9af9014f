"""The options of `loadgen perf`: a value for each concern of a performance session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.client import ClientSettings
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.definitions import DefinitionSettings
from loadgen.sessions.settings.endpoint import DEFAULT_URL, ENDPOINT, EndpointSettings
from loadgen.sessions.settings.failures import FailureSettings
from loadgen.sessions.settings.generation import GenerationSettings
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.output import OutputSettings
from loadgen.sessions.settings.tasks import TaskSettings
from loadgen.sessions.settings.verdict import VerdictSettings

MOST_GPUS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings(TaskSettings):
    """The options of a performance session, by concern."""

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
    failures: FailureSettings = field(default_factory=FailureSettings)
    client: ClientSettings = field(default_factory=ClientSettings)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    verdict: VerdictSettings = field(default_factory=VerdictSettings)
    definitions: DefinitionSettings = field(default_factory=DefinitionSettings)
    output: OutputSettings = field(default_factory=OutputSettings)

    def __post_init__(self) -> None:
        EndpointSettings.__post_init__(self)
        if self.balance is not None and len(self.urls) == 1:
            raise UsageError("--balance is about several endpoints: give --url more than once")
        if self.gpus is not None and not 1 <= self.gpus <= MOST_GPUS:
            raise UsageError(f"--gpus {self.gpus}: must be from 1 to {MOST_GPUS:,}")
        self.check_load()
        self.check_prompts(self.generation.max_tokens)
        self.check_tasks()
        self.generation.check(self)


def perf_settings(**options: Any) -> PerfSettings:
    """Settings of options by their names, which are those of the command line with `_`.

    Raises:
        TypeError: There is no such option, or the model is missing.
        UsageError: The options contradict each other.
    """
    return from_flat(PerfSettings, options)
