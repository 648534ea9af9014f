"""The warm-up of sessions that begin in mid-trajectory: each user's session is brought to its position.

First, the last request before the position of each agent that is under way, with its whole prompt; all users
reach their positions together. Then, where asked for, further requests of the session ahead of their time,
without delays and for one token each, which fill the server's cache. As in AgentX (agentx-harness 1.0.12).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agentic.tree_sample import PlayedPrompts, models_of
from loadgen.plugins.agentic.tree_session import AHEAD_NS, FAILED, NEVER_ASKED, TreeSession
from loadgen.plugins.agentic.workbench import finished

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.driver.session_kind import HostingWorker
    from loadgen.plugins.agentic.session_tree import SessionTree
    from loadgen.plugins.agentic.tree_sample import TreeSample
    from loadgen.plugins.agentic.tree_session import Playing, Request
    from loadgen.plugins.agentic.workbench import Steps, Workbench

PRESSURE_TOKENS: Final = 1


class Priming:
    """The last request before the position of each agent.

    Args:
        sample: The tree as a sample.
        tree: The tree.
        playing: How the session is played, with a position.
        worker: Encodes requests.
        lead_ns: How long the warm-up takes to reach the positions, the same for all users.
        drain_ns: How long requests in flight are awaited after that; None for as long as they take.
    """

    def __init__(
        self,
        sample: TreeSample,
        tree: SessionTree,
        playing: Playing,
        worker: HostingWorker,
        lead_ns: int,
        drain_ns: int | None,
    ) -> None:
        assert playing.position is not None  # noqa: S101 (who warms up has one)
        self._playing = playing
        self._position = playing.position
        self._tree = tree
        self._prepare = worker.prepare
        self._primed = self._position.under_way(tree)
        self._prompts = PlayedPrompts(sample, tree, models_of(tree, playing.models))
        finished(self._prompts.skipping(self._position.past.difference(self._primed)))
        self._lead_ns = lead_ns
        self._drain_ns = drain_ns
        self._failed = 0
        self._last = NEVER_ASKED

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Ask; issuing ends with the last answer."""
        self._turns = turns
        turns.open()
        return self._through()

    async def _through(self) -> TurnOutcome:
        turns = self._turns
        reached_ns = turns.scheduled_ns + round(self._lead_ns / self._playing.speed)
        last_ns = None if self._drain_ns is None else reached_ns + self._drain_ns
        try:
            left = await _until(last_ns, map(self._prime, self._primed), turns)
            self._failed += left
        finally:
            turns.end(self._failed, FAILED)
        return self._last

    async def _prime(self, number: int) -> None:
        turns, playing = self._turns, self._playing
        wait_ns = max(0, self._lead_ns - self._position.lead_ns(self._tree, number))
        due_ns = turns.scheduled_ns + round(wait_ns / playing.speed)
        await turns.until(due_ns - AHEAD_NS)
        sent = finished(self._prompts.making(number))
        salted = sent if playing.salting is None else playing.salting(sent)
        body = self._prepare(salted, self._prompts.members(number))
        if await turns.until(due_ns) is not None:
            return
        self._last = await turns.take(sent, body, due_ns, playing.facts | {"turn": number})
        self._failed += self._last.failure is not None


class Pressing(TreeSession):
    """The next requests of a session ahead of their time, for one token each.

    Args:
        number: The number of the session in the run.
        sample: The tree as a sample.
        playing: How the session is played, with the position, which moves on.
        worker: Encodes requests.
        bench: Makes the requests.
        requests: How many; the last turn of the session is not among them.
        drain_ns: How long they are awaited; None for as long as they take.
    """

    def __init__(
        self,
        number: int,
        sample: TreeSample,
        playing: Playing,
        worker: HostingWorker,
        bench: Workbench,
        requests: int,
        drain_ns: int | None,
    ) -> None:
        super().__init__(number, sample, playing, worker, bench)
        self._requests_left = requests
        self._drain_ns = drain_ns
        self._ahead: list[int] = []

    async def _through(self) -> TurnOutcome:
        last_ns = None if self._drain_ns is None else self._turns.now_ns() + self._drain_ns
        await _until(last_ns, [super()._through()], self._turns)
        for number in self._ahead:
            if self._playing.position is not None:
                self._playing.position.passed(self._tree, number)
        return self._last

    def _start(self, number: int) -> None:
        if self._requests_left and len(self._ahead) < self._planned - 1:
            self._requests_left -= 1
            self._ahead.append(number)
            super()._start(number)

    def _delay_ns(self, number: int) -> int:  # noqa: ARG002 (no turn has one)
        return 0

    def _request(self, number: int) -> Steps[Request]:
        sent, _ = yield from super()._request(number)
        sent, salting = replace(sent, max_tokens=PRESSURE_TOKENS), self._playing.salting
        return sent, self._prepare(sent if salting is None else salting(sent), self._prompts.members(number))

    def _end(self) -> None:
        self._turns.end()


async def _until(at_ns: int | None, works: Iterable[Coroutine[Any, Any, Any]], turns: SessionTurns) -> int:
    """Await works until a moment, and cancel those that go on; return how many these are."""
    tasks = [asyncio.create_task(work) for work in works]
    limit = [] if at_ns is None else [asyncio.create_task(turns.until(at_ns))]
    try:
        left = set(tasks)
        while left and not any(task.done() for task in limit):
            await asyncio.wait([*left, *limit], return_when=asyncio.FIRST_COMPLETED)
            left = {task for task in left if not task.done()}
    finally:
        for task in (*tasks, *limit):
            task.cancel()
        await asyncio.gather(*tasks, *limit, return_exceptions=True)
    for task in tasks:
        if not task.cancelled():
            task.result()
    return len(left)
