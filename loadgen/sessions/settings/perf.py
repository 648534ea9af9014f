"""The options of `loadgen perf`: a value for each concern of a performance session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.transport import CANNOT_OPEN_AHEAD, MEASURES_BEST, TransportName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.benchmark_options import TaskSettings
from loadgen.sessions.settings.cluster import ClusterSettings
from loadgen.sessions.settings.concerns import fields_of, flat_values, from_flat
from loadgen.sessions.settings.definition_options import DefinitionSettings
from loadgen.sessions.settings.endpoint_options import EndpointsSettings, GenerationSettings
from loadgen.sessions.settings.episode_options import EpisodeSettings
from loadgen.sessions.settings.kinds import Share, Size
from loadgen.sessions.settings.load_options import LoadSettings, TreeSettings
from loadgen.sessions.settings.option import Panel
from loadgen.sessions.settings.output import OutputSettings
from loadgen.sessions.settings.prompt_options import MediaSettings, PromptSettings
from loadgen.sessions.settings.telemetry_options import TelemetrySettings
from loadgen.sessions.settings.verdict_options import VerdictSettings
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Mapping

FAILURES: Final = Panel("Failures")


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureSettings:
    """Options of failures."""

    retry: int = FAILURES.option("Retry transient failures up to N times; each attempt is logged.", 0)
    max_errors: int | None = FAILURES.option("End the run, as invalid, when N measured requests have failed.")
    max_error_rate: Share | None = FAILURES.option(
        "Share of failed requests above which the run is invalid: 10% or 0.1 (5% if not given). If given, "
        "the run ends there, from 20 requests on."
    )
    max_response: Size = FAILURES.option(
        "Give up a response that is larger than this: 10MB, 64MiB.", 67_108_864
    )


CLIENT: Final = Panel("Client")

ConnectionUse = Literal["keep", "new"]

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """Options of the client."""

    workers: int | None = CLIENT.option("Number of client processes. Default: by load and machine.")
    transport: TransportName = CLIENT.option(
        "HTTP client: native (most accurate), python (without compiled code), or aiohttp (supports proxies).",
        MEASURES_BEST,
    )
    connection: ConnectionUse = CLIENT.option(
        "keep: use connections again, as the server allows; new: one connection per request.", "keep"
    )
    connect_ahead: int = CLIENT.option("Open N connections before the first request; not with aiohttp.", 0)

    trace_context: bool = CLIENT.switch("Send a W3C traceparent with each request, and log the ids.")

    session_header: list[str] = CLIENT.option(
        "Header with the id of the session: X-Session-ID, X-SMG-Routing-Key, X-Dynamo-Session-ID (with the "
        "parent's), or x-session-token (echoed); repeatable.",
        [],
        metavar="NAME",
    )

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport in CANNOT_OPEN_AHEAD:
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings:
    """The options of a performance session, by concern."""

    endpoint: EndpointsSettings
    load: LoadSettings = field(default_factory=LoadSettings)
    prompts: PromptSettings = field(default_factory=PromptSettings)
    media: MediaSettings = field(default_factory=MediaSettings)
    trees: TreeSettings = field(default_factory=TreeSettings)
    tasks: TaskSettings = field(default_factory=TaskSettings)
    episodes: EpisodeSettings = field(default_factory=EpisodeSettings)
    failures: FailureSettings = field(default_factory=FailureSettings)
    client: ClientSettings = field(default_factory=ClientSettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    generation: GenerationSettings = field(default_factory=GenerationSettings)
    verdict: VerdictSettings = field(default_factory=VerdictSettings)
    definitions: DefinitionSettings = field(default_factory=DefinitionSettings)
    output: OutputSettings = field(default_factory=OutputSettings)

    @property
    def workers(self) -> int | None:
        """The number of client processes; None for as many as the load takes."""
        together = self.trees.start_window is not None or self.trees.idle_cap is not None
        return 1 if together or self.episodes.sequential else self.client.workers

    def __post_init__(self) -> None:
        self.generation.check(self.endpoint)
        if self.client.transport == "aiohttp" and self.endpoint.protocol_entry.scheme != "http":
            raise UsageError(
                f"--transport aiohttp: has no HTTP/2 for --protocol {self.endpoint.protocol}; leave it out"
            )
        concerns = (self.prompts, self.tasks, self.episodes, self.cluster)
        of_text_seed = PromptSettings(text_seed=self.prompts.text_seed)
        defaults = (of_text_seed, TaskSettings(), EpisodeSettings(), ClusterSettings())
        if self.load.trace is not None or concerns != defaults:
            self._check_concerns()
        if self.trees.flags:
            service("require_trees")(self)

    def _check_concerns(self) -> None:
        from loadgen.sessions.settings import contradictions

        own_data, max_tokens = self.tasks.has_own_data, self.generation.max_tokens
        contradictions.check_prompts(
            self.prompts, self.endpoint, self.load, max_tokens, has_own_data=own_data
        )
        contradictions.check_tasks(self.tasks, self.prompts, self.load, has_agent=self.episodes.has_agent)
        contradictions.check_episodes(self.episodes, self.load, self.client.workers)
        contradictions.check_cluster(self.cluster, self.endpoint, self.episodes, self.verdict)


def perf_settings(**options: Any) -> PerfSettings:
    """Settings of options by their names, which are those of the command line with `_`.

    Raises:
        TypeError: An option does not exist, or the model is missing.
        UsageError: The options contradict each other.
    """
    return from_flat(PerfSettings, options)


def stored_options(perf: PerfSettings) -> dict[str, Any]:
    """The options with defaults, as JSON values."""
    fields = fields_of(type(perf))
    return {name: plain(value) for name, value in flat_values(perf).items() if fields[name].declared.stored}


def changed_options(perf: PerfSettings) -> list[str]:
    """The names of the stored options without the default value."""
    fields, values = fields_of(type(perf)), flat_values(perf)
    return sorted(
        name for name in values if fields[name].declared.stored and values[name] != fields[name].default
    )


def settings_from_stored(options: Mapping[str, Any], **more: Any) -> PerfSettings:
    """The settings of stored options."""
    if unknown := sorted(options.keys() - fields_of(PerfSettings).keys()):
        raise UsageError(
            f"the run has options unknown to this version ({', '.join(unknown)}): resume with the version "
            "that started the run"
        )
    if options.get("samples") is not None and "sample_order" not in options:
        # Logs without this option took the first questions of a file.
        options = {**options, "sample_order": "file"}
    if options.get("prompts") is None and not options.get("task"):
        # Logs without this option have the texts of seed 0.
        options = {"text_seed": 0, **options}
    return perf_settings(**{**options, **more})


def plain(value: object) -> object:
    """A file's name as text, even if its bytes are not valid text; other values unchanged."""
    return str(value).encode(errors="replace").decode() if isinstance(value, Path | str) else value
