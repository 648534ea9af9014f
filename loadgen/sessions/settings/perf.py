"""The options of `loadgen perf`: a value for each concern of a performance session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loadgen.sessions.settings.benchmark_options import TaskSettings
from loadgen.sessions.settings.client import ClientSettings
from loadgen.sessions.settings.cluster import ClusterSettings
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.definition_options import DefinitionSettings
from loadgen.sessions.settings.endpoint_options import EndpointsSettings
from loadgen.sessions.settings.episode_options import EpisodeSettings
from loadgen.sessions.settings.failures import FailureSettings
from loadgen.sessions.settings.generation_options import GenerationSettings
from loadgen.sessions.settings.load_options import LoadSettings
from loadgen.sessions.settings.output import OutputSettings
from loadgen.sessions.settings.prompt_options import PromptSettings
from loadgen.sessions.settings.telemetry_options import TelemetrySettings
from loadgen.sessions.settings.verdict_options import VerdictSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings:
    """The options of a performance session, by concern."""

    endpoint: EndpointsSettings
    load: LoadSettings = field(default_factory=LoadSettings)
    prompts: PromptSettings = field(default_factory=PromptSettings)
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

    def __post_init__(self) -> None:
        own_data = self.tasks.has_own_data
        self.prompts.check(self.endpoint, self.load, self.generation.max_tokens, has_own_data=own_data)
        self.tasks.check(self.prompts, self.load, has_agent=self.episodes.has_agent)
        self.generation.check(self.endpoint)
        self.episodes.check(self.load, self.client.workers)
        self.cluster.check(self.endpoint, self.episodes, self.verdict)


def perf_settings(**options: Any) -> PerfSettings:
    """Settings of options by their names, which are those of the command line with `_`.

    Raises:
        TypeError: An option does not exist, or the model is missing.
        UsageError: The options contradict each other.
    """
    return from_flat(PerfSettings, options)
