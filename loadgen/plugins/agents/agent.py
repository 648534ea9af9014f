"""Agents: the kinds of players of an episode, and the call of each kind."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from loadgen.plugins.agents.episode import EpisodeResult, as_result
from workloads.episode_program import imported
from workloads.errors import EpisodeCodeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.agents.trace import EpisodeTrace
    from workloads.sample import Sample

_RUN = "run"
_GET_TOOLS = "get_tools"


class EpisodePlayer:
    """Plays episodes with the code of a name.

    Args:
        code: `module:attribute`: an async function `(sample, ask, sandbox)`, or a rollout agent loop: a class
            or an instance with `get_tools` and `run`.
        sequential: Whether one instance of a class plays all samples, and keeps its state.

    Raises:
        EpisodeCodeError: It cannot be imported, or is neither.
    """

    def __init__(self, code: str, paths: Sequence[str] = (), *, sequential: bool = False) -> None:
        from loadgen.plugins.agents.contract import provide

        provide()
        self._agent: Any = imported(code, paths)
        if not is_loop(self._agent) and not callable(self._agent):
            raise EpisodeCodeError(
                f"{code}: is {type(self._agent).__name__}, and neither an async function (sample, ask, "
                "sandbox) nor an agent loop with get_tools and run"
            )
        if sequential and inspect.isclass(self._agent):
            self._agent = self._agent()

    async def play(
        self, sample: Sample, ask: Ask, sandbox: Any, trace: EpisodeTrace | None = None
    ) -> EpisodeResult:
        """Play the episode of a sample; a loop's `log_event` writes into the trace.

        Raises:
            EpisodeError: No further turn could be asked.
        """
        agent: Any = self._agent() if inspect.isclass(self._agent) else self._agent
        if is_loop(agent):
            from loadgen.plugins.agents.rollout import play_loop

            where = (None, None) if trace is None else (trace.folder, trace.name)
            return await play_loop(agent, sample, ask, *where)
        value = agent(sample, ask, sandbox)
        return as_result(await value if inspect.isawaitable(value) else value)


def is_loop(agent: Any) -> bool:
    """Whether an agent follows the contract of rollout agent loops."""
    return callable(getattr(agent, _RUN, None)) and callable(getattr(agent, _GET_TOOLS, None))
