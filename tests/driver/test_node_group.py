"""The nodes of a session as the coordinator sees them, without processes: silence, and all their counters."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import Any

import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import WorkerLostError
from loadgen.driver.load import Closed
from loadgen.driver.plan import ErrorBudget, Plan
from loadgen.driver.progress import SessionProgress
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.plugins.ray.group import NodeGroup
from loadgen.plugins.ray.node_links import NodeStatus
from recorder.event import Event, EventType

SILENCE_S = 0.5
"""Longer than a busy machine stops this process: a late coordinator takes all nodes for silent."""


class FakeLink:
    """The way to a node that answers, or hangs from a method on.

    Args:
        number: The node's number.
        hangs_at: From this method on it answers nothing; None for never.
        errors: How many of its requests have failed.
    """

    def __init__(self, number: int, hangs_at: str | None = None, errors: int = 0) -> None:
        self.name = f"node-{number}"
        self.host = "fake"
        self.killed = False
        self._hangs_at = hangs_at
        self._hangs = False
        self._progress = SessionProgress()
        self._progress.issued = 40
        self._progress.completed = 40 - errors
        self._progress.errors["http_500"] = errors

    async def call(self, method: str, *values: Any) -> Any:
        """Answer, or hang."""
        del values
        self._hangs |= method == self._hangs_at
        if self._hangs:
            await asyncio.Event().wait()
        if method == "status":
            return NodeStatus(time.monotonic_ns(), self._progress.snapshot())
        return None

    def kill(self) -> None:
        """Remember it."""
        self.killed = True


def watched(links: list[FakeLink], budget: ErrorBudget = ErrorBudget()) -> tuple[Stop, list[Event]]:  # noqa: B008
    """Set nodes up, and watch over them until the session is to stop; return why, and the findings."""
    plan = Plan(Closed(3), 300, None, 0, Generation("m"), "chat", 0, Timeouts(60), budget=budget)
    events: list[Event] = []

    async def session() -> Stop:
        stop = Stop()
        with closing(system_clock()) as clock:
            group = NodeGroup(links, plan, events.append, clock, stop, silence_s=SILENCE_S)
            await group.set_up([None] * len(links))
            await group.begin()
            await stop.draining.wait()
            await group.end()
        return stop

    stop = asyncio.run(session())
    return stop, [event for event in events if event.type is EventType.FINDING]


@pytest.mark.parametrize("silent", [{1}, {0, 1, 2}])
def test_silence_while_nodes_are_set_up(silent: set[int]) -> None:
    """It has an end, also where the whole cluster is silent; the message names a node."""
    links = [FakeLink(number, "set_up" if number in silent else None) for number in range(3)]
    with pytest.raises(
        WorkerLostError, match=rf"node-{min(silent)} \(fake\) was lost before .* no message for"
    ):
        watched(links)
    # The first one that is lost ends the session, before or after the time of the others is over.
    assert {min(silent)} <= {number for number, link in enumerate(links) if link.killed} <= silent


def test_silence_in_a_session() -> None:
    """A node that answers nothing any more is lost, with a finding; the session stops."""
    links = [FakeLink(0), FakeLink(1, "open_log"), FakeLink(2)]

    async def fall_silent() -> None:
        await asyncio.sleep(SILENCE_S)
        await links[1].call("open_log")

    call = links[0].call

    async def call_and_silence(method: str, *values: Any) -> Any:
        if method == "status" and not silencing:
            silencing.append(asyncio.create_task(fall_silent()))
        return await call(method, *values)

    silencing: list[asyncio.Task[None]] = []
    links[0].call = call_and_silence  # type: ignore[method-assign]
    stop, findings = watched(links)
    assert stop.reason == "node_lost"
    (finding,) = [finding for finding in findings if finding.data["code"] == "node_lost"]
    assert "node-1 (fake) was lost (no message for" in finding.data["message"]
    assert [link.killed for link in links] == [False, True, False]


@pytest.mark.parametrize("budget", [ErrorBudget(errors=9), ErrorBudget(rate=0.07)])
def test_error_budgets_count_all_nodes(budget: ErrorBudget) -> None:
    """Nine failures of 120 requests spend them, of which no node has more than four."""
    links = [FakeLink(0, errors=4), FakeLink(1, errors=4), FakeLink(2, errors=1)]
    stop, findings = watched(links, budget)
    assert stop.reason == "error_budget"
    assert [finding.data["code"] for finding in findings] == ["error_budget"]
