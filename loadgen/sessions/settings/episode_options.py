"""The options of episodes and agents: who plays them, their limits, and the simulated user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import RESULT, Panel

if TYPE_CHECKING:
    from loadgen.sessions.settings.load_options import LoadSettings

AGENTS: Final = Panel("Agents")
DEFAULT_MAX_TURNS: Final = 10
"""The limit of turns of an agent, where none is given."""


UserApiKey = Annotated[
    str | None,
    AGENTS.declares(
        "API key of the users' endpoint, preferably in the environment; @FILE reads a file. Never logged.",
        envvar=("LOADGEN_USER_API_KEY",),
        stored=False,
        instead="a key does not belong into a file: LOADGEN_USER_API_KEY of the environment holds it",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeSettings:
    """The options of episodes, one per field."""

    agent: str | None = AGENTS.option(
        "Let your own agent answer each question: an agent loop, or an async function (sample, ask, "
        "sandbox); docs/agents.md.",
        metavar="MODULE:ATTRIBUTE",
    )
    agent_command: str | None = AGENTS.option(
        "Let a program answer each question: task on stdin, endpoint in OPENAI_BASE_URL, answer on stdout.",
        metavar="COMMAND",
    )
    max_turns: int | None = AGENTS.option(
        f"The most turns of an episode. Default: {DEFAULT_MAX_TURNS} for agents, else the task's."
    )
    max_episode_tokens: int | None = AGENTS.option("The most input and output tokens of an episode.")
    max_episode_time: Seconds | None = AGENTS.option("The longest time of an episode.")
    max_episode_cost: float | None = AGENTS.option(
        "The most that an episode's tokens may cost, by --episode-prices.", metavar="AMOUNT"
    )
    episode_prices: str | None = AGENTS.option(
        "Prices of a million input and output tokens, for --max-episode-cost.", metavar="INPUT,OUTPUT"
    )
    sequential: bool = AGENTS.switch(
        "One sample after the other, with an agent that keeps state between samples.", "--episode-mode"
    )
    debug: bool = RESULT.option(
        "Write connections, retries and failures to debug/session.log in the run's folder; each episode to "
        "debug/*.jsonl.",
        False,
    )
    user_url: str | None = AGENTS.option(
        "Endpoint of the model that plays users, for tasks with users. Default: --url.", metavar="URL"
    )
    user_model: str | None = AGENTS.option(
        "Name of the model that plays users. Default: --model.", metavar="NAME"
    )
    user_api_key: UserApiKey = field(default=None, repr=False)
    user_temperature: float | None = AGENTS.option(
        "Sampling temperature of the model that plays users.", metavar="T"
    )

    @property
    def has_agent(self) -> bool:
        """Whether an agent plays all samples."""
        return self.agent is not None or self.agent_command is not None

    def check(self, load: LoadSettings, workers: int | None) -> None:
        """Refuse options that contradict each other."""
        if self.agent is not None and self.agent_command is not None:
            raise UsageError("--agent and --agent-command contradict each other: each plays every sample")
        if self.agent is not None and ":" not in self.agent:
            raise UsageError(
                f"--agent {self.agent}: not MODULE:ATTRIBUTE; for an agent by name type: --agent-command "
                f"'@jarvis-agent --agent {self.agent}' (see `loadgen list agents`)"
            )
        if (self.user_url is None) != (self.user_model is None):
            present, missing = ("url", "model") if self.user_model is None else ("model", "url")
            raise UsageError(f"--user-{present}: the simulated user needs both; give --user-{missing} too")
        for option, number in (
            ("--max-turns", self.max_turns),
            ("--max-episode-tokens", self.max_episode_tokens),
            ("--max-episode-time", self.max_episode_time),
            ("--max-episode-cost", self.max_episode_cost),
        ):
            if number is not None and number <= 0:
                raise UsageError(f"{option} {number:g}: must be above 0")
        if (self.max_episode_cost is None) != (self.episode_prices is None):
            raise UsageError("--max-episode-cost and --episode-prices go together: give both")
        if self.sequential and ((load.concurrency or 1) != 1 or (workers or 1) != 1 or load.offline):
            raise UsageError("--sequential plays one sample at a time: give --concurrency 1, and 1 worker")
