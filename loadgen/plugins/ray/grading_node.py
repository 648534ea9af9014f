"""A node in a scoring pass: grades batches of answers in local processes.

The coordinator calls its methods, by Ray or otherwise.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.plugins.ray.node_environment import enter, take_usual_priority
from loadgen.sessions.scoring.choice import Chosen, scorer_named
from loadgen.sessions.scoring.site import Here

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.scoring.grader import Result
    from loadgen.sessions.scoring.grader_pool import Grader
    from loadgen.sessions.scoring.grading_work import Grading
    from loadgen.sessions.settings.scoring import ScoringChoices


@dataclass(frozen=True, slots=True)
class GradingConfig:
    """All that a node must know to grade.

    Attributes:
        folder: Where the coordinator runs: modules and data are looked for there, if there is such a folder.
    """

    scorers: Sequence[tuple[str, str]]
    options: ScoringChoices
    folder: str


class GradingNode:
    """A node. Methods run in the event loop of the node's process."""

    def __init__(self) -> None:
        self._chosen: list[Chosen] = []
        self._graders: Sequence[Grader] = ()
        self._threads = ThreadPoolExecutor(1)

    async def started(self) -> None:
        """Return, which says that there is a process."""

    async def check(
        self, config: GradingConfig, references: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Check the requirements of scorers here; see `loadgen.sessions.scoring.site.Site`.

        Returns:
            What scores depend on, with the `definitions` of scorers.
        """
        take_usual_priority()
        return await asyncio.to_thread(self._check, config, references)

    def _check(
        self, config: GradingConfig, references: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        enter(config.folder)
        self._chosen = [
            Chosen(task, scorer_named(task, name), official=False) for task, name in config.scorers
        ]
        self._here = Here(config.options)
        definitions = {chosen.key: chosen.scorer.definition for chosen in self._chosen}
        return {**self._here.check(self._chosen, references), "definitions": definitions}

    async def begin(self, pass_number: int, gradings: int) -> int:
        """Start graders for a pass; return the number."""
        self._graders = self._here.graders(self._chosen, pass_number, gradings)
        self._threads = ThreadPoolExecutor(len(self._graders))
        return len(self._graders)

    async def grade(self, number: int, batch: Sequence[Grading]) -> list[Result]:
        """Let a grader grade a batch."""
        results: list[Result] = []
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, self._graders[number].grade, batch, results.extend)
        return results

    async def end(self) -> None:
        """End all graders, which have nothing to do."""
        for grader in self._graders:
            await asyncio.to_thread(grader.close)
