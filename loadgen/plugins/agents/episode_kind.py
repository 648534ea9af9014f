"""Episodes as a kind of sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from loadgen.plugins.agents.agent_process import AgentProcess
    from loadgen.plugins.agents.episode_plan import EpisodePlan


@dataclass(frozen=True, slots=True)
class EpisodeKind:
    """Episodes as a kind of sessions; see `loadgen.driver.session_kind.SessionKind`."""

    plan: EpisodePlan

    def settings(self) -> dict[str, Any]:
        """Members for the settings in the log, without secrets."""
        return {"episodes": self.plan.settings()}

    def in_folder(self, run: Path) -> EpisodeKind:
        """The episodes of a run in a folder."""
        return EpisodeKind(self.plan.in_folder(run))

    def require(self) -> None:
        """Import the agent.

        Raises:
            EpisodeCodeError: It cannot be imported.
        """
        import_players(set() if self.plan.agent is None else {self.plan.agent}, self.plan.paths)

    def host(self) -> AgentProcess:
        """Start the process that plays episodes."""
        from loadgen.plugins.agents.agent_process import AgentProcess

        return AgentProcess(self.plan)


def import_players(codes: AbstractSet[str], paths: tuple[str, ...]) -> None:
    """Import the players of episodes, so that a missing one is reported before the first request.

    Raises:
        EpisodeCodeError: It cannot be imported.
    """
    from loadgen.plugins.agents.agent import EpisodePlayer

    for code in codes:
        EpisodePlayer(code, paths)
