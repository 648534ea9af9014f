"""The options of episodes and agents: who plays them, their limits, and the simulated user."""

from __future__ import annotations

from typing import Annotated, Final

from lazy_dataclasses import dataclass, field
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import RESULT, Panel

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
