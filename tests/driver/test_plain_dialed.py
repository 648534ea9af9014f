"""Requests that compiled code follows from the first one on a connection, and by what is learnt meanwhile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.dialing import Dialer
from loadgen.driver.client.failure import Failure
from tests.driver.conftest import ScriptedServer, Step
from tests.driver.test_plain_request import (
    CANCELLED,
    COMPLETE,
    ERROR,
    ISSUED,
    SENT,
    USUAL,
    WHOLE,
    Asked,
    chunked,
)
from tests.driver.test_shapes import DONE, delta, frame, response

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine

    from loadgen.driver.requests.turn_outcome import TurnOutcome

    Run = Callable[[Coroutine[Any, Any, Any]], Any]

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs the compiled code: a C compiler at installation")

LEARNT = 4


async def learnt(server: ScriptedServer, **options: Any) -> Asked:
    """A client that knows the usual responses, and has a connection for one request; without rows."""
    asked = Asked(server, **options)
    for _ in range(LEARNT):
        await asked.ask()
    asked.rows, asked.plain = [], 0
    return asked


async def at_once(asked: Asked, times: int) -> list[TurnOutcome]:
    """Ask a number of times at once, and close the transport."""
    outcomes = await asyncio.gather(*(asked.ask() for _ in range(times)))
    await asked.transport.close()
    return outcomes


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_new_connection_carries_a_plain_request(
    run: Run, certified: Callable[[str], ssl.SSLContext], *, encrypted: bool
) -> None:
    """Compiled code follows the first request of a connection; the log has how the connection was set up."""

    async def scenario() -> tuple[Asked, list[TurnOutcome]]:
        async with ScriptedServer(USUAL, tls=certified("127.0.0.1") if encrypted else None) as server:
            asked = await learnt(server, trace_context=True)
            return asked, await at_once(asked, 3)

    asked, outcomes = run(scenario())
    assert [outcome.failure for outcome in outcomes] == [None] * 3
    assert asked.codes == [WHOLE] * 3
    assert asked.plain == 3 * len(WHOLE)
    sent = [orjson.loads(line[3]) for line in asked.rows if line[0] == SENT]
    assert sorted(payload["reused"] for payload in sent) == [False, False, True]
    for payload in sent:
        assert payload["span_id"]
        if not payload["reused"]:
            assert payload["connect_ms"] > 0
            assert (payload["tls_ms"] is not None) == encrypted
    issued = {line[2]: line[1] for line in asked.rows if line[0] == ISSUED}
    assert all(issued[line[2]] <= line[1] for line in asked.rows)


def test_no_connection_is_a_failure_of_the_request(run: Run) -> None:
    """A request whose connection is refused ends with an error, once."""

    async def scenario() -> tuple[Asked, list[TurnOutcome]]:
        async with ScriptedServer(*[USUAL] * (LEARNT - 1), [*USUAL, Step.CLOSE]) as server:
            asked = await learnt(server)
        return asked, await at_once(asked, 3)

    asked, outcomes = run(scenario())
    assert [outcome.failure for outcome in outcomes] == [Failure.REFUSED] * 3
    assert asked.codes == [[ISSUED, ERROR]] * 3


@pytest.mark.parametrize("ends", ["time limit", "cancelled"])
def test_a_request_can_end_while_its_connection_is_opened(
    ends: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request's time limit, or who gives up, ends the wait for a connection."""

    async def scenario() -> Asked:
        async with ScriptedServer(*[USUAL] * LEARNT, [Step.HANG]) as server:
            asked = await learnt(server, timeout_s=0.5 if ends == "time limit" else 60)
            dialing = asyncio.Event()

            async def never(*_: object) -> None:
                dialing.set()
                await asyncio.sleep(60)

            monkeypatch.setattr(Dialer, "_dial", never)
            tasks = [asyncio.create_task(asked.ask()) for _ in range(2)]
            await dialing.wait()
            if ends == "cancelled":
                for task in tasks:
                    task.cancel()
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                if ends == "cancelled":
                    assert isinstance(outcome, asyncio.CancelledError)
                else:
                    assert outcome.failure == Failure.TOTAL_TIMEOUT  # type: ignore[union-attr]
            await asked.transport.close()
            return asked

    last = CANCELLED if ends == "cancelled" else ERROR
    assert sorted(run(scenario()).codes) == sorted([[ISSUED, SENT, last], [ISSUED, last]])


def test_a_request_is_read_by_what_others_have_shown_meanwhile(run: Run) -> None:
    """A frame is known to a request that began before the frame was learnt."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    end = [frame(7, delta("length")), frame(7, None, usage=usage), DONE]
    cut = chunked([*response(7, ["a", "b"])[:-3], *end])
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def pause(_: object) -> None:
        begun.set()
        await go_on.wait()

    waiting = [*cut[:4], pause, *cut[4:]]

    async def scenario() -> tuple[Asked, TurnOutcome]:
        async with ScriptedServer(*[USUAL] * LEARNT, waiting, cut, cut, cut, USUAL) as server:
            asked = await learnt(server)
            first = asyncio.create_task(asked.ask())
            await begun.wait()
            for _ in range(4):
                await asked.ask()
            asked.rows, asked.plain = [], 0
            go_on.set()
            outcome = await first
            await asked.transport.close()
            return asked, outcome

    asked, outcome = run(scenario())
    assert outcome.finish_reason == "length"
    assert [line[0] for line in asked.rows] == [COMPLETE]
    assert asked.plain == 1
    assert orjson.loads(asked.rows[0][4])["output"] == "ab"
