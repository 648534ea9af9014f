"""Conversations by real processes, against a server that knows what each turn must have before it.

Its answer to a question is a digest of everything that was asked, so that one wrong message anywhere makes
every later answer another one; and what it gets as its own earlier answers, it can check by itself.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Closed
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.driver.workers.pool import WorkerPool
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from recorder.writer import EventRecorder
from workloads.conversation_sample import ConversationSample, FollowUp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from workloads.sample import Sample

TURNS = 5
SESSIONS = 50


def answer_to(messages: Sequence[dict[str, Any]]) -> str:
    """What the server says to messages."""
    return sha256(orjson.dumps(messages)).hexdigest()[:16]


def recorded(index: int, turn: int) -> str:
    """What the dataset has for an answer."""
    return f"recorded {index}.{turn}"


def sample(index: int) -> Sample:
    """A conversation of five turns."""
    later = [
        FollowUp(
            ({"role": "user", "content": f"then {index}.{turn}"},),
            recorded={"role": "assistant", "content": recorded(index, turn - 1)},
        )
        for turn in range(1, TURNS)
    ]
    return ConversationSample(
        index, f"first {index}", system="be brief", tags={"class": str(index % 3)}, follow_ups=tuple(later)
    )


class Server:
    """Answers chat completions over kept connections, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, Any]]] = []
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self) -> str:
        """Listen; return the URL."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Hang up."""
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split()[0])
                messages = orjson.loads(await reader.readexactly(length))["messages"]
                self.asked.append(messages)
                writer.write(_stream(answer_to(messages)))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def _stream(text: str) -> bytes:
    frames = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text[:7]}}]},
        {"choices": [{"index": 0, "delta": {"reasoning_content": "not to be told again"}}]},
        {"choices": [{"index": 0, "delta": {"content": text[7:]}, "finish_reason": "stop"}]},
    ]
    body = b"".join(b"data: " + orjson.dumps(frame) + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def session(log: Path, workers: int, history: str) -> Server:
    """Fifty conversations by fifty users; what the server was asked."""
    server, stop, clock = Server(), Stop(), system_clock()
    url = await server.open()
    load = Closed(SESSIONS, "uniform:0ms..3ms")
    plan = Plan(
        load, None, None, 0, Generation("m"), "chat", 3, Timeouts(60), sessions=SESSIONS, history=history
    )
    with WorkerLauncher() as launcher:
        launcher.spawn(workers)
        recorder = EventRecorder(path=log)
        pool = WorkerPool(launcher, plan, recorder, clock, stop)
        pool.begin(
            [endpoint(url, {})],
            RequestSource([sample(index) for index in range(SESSIONS)], conversations=True),
        )
        await pool.ready()
        with recorder:
            await LoadSession(plan, pool, recorder.put, clock, stop).run()
            await pool.end()
        assert (pool.progress.sessions, pool.progress.completed) == (SESSIONS, SESSIONS * TURNS)
    clock.close()
    await server.close()
    return server


def events(log: Path) -> list[Event]:
    """The events of a log."""
    with closing(sqlite3.connect(log)) as connection:
        rows = connection.execute(
            "SELECT code, at_ns, sample_uuid, data, texts FROM events ORDER BY seq"
        ).fetchall()
    return [
        Event(
            EventType(code),
            index,
            uuid,
            orjson.loads(data or "{}") | {"texts": orjson.loads(texts or "null")},
        )
        for code, index, uuid, data, texts in rows
    ]


def must_be_asked(index: int, turn: int, history: str) -> list[dict[str, Any]]:
    """What a turn must have before it."""
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": f"first {index}"}]
    for later in range(1, turn + 1):
        before = recorded(index, later - 1) if history == "recorded" else answer_to(messages)
        messages += [
            {"role": "assistant", "content": before},
            {"role": "user", "content": f"then {index}.{later}"},
        ]
    return messages


@pytest.mark.parametrize(("workers", "history"), [(1, "answered"), (3, "answered"), (3, "recorded")])
def test_every_turn_has_its_context(tmp_path: Path, workers: int, history: str) -> None:
    """Each turn is asked once, with exactly what was said before it, and the log tells which is which."""
    log = tmp_path / "events.db"
    server = asyncio.run(session(log, workers, history))
    asked = Counter(map(orjson.dumps, server.asked))
    turns = [(index, turn) for index in range(SESSIONS) for turn in range(TURNS)]
    assert asked == Counter(orjson.dumps(must_be_asked(*message, history)) for message in turns)

    result = events(log)
    assert violations(result) == []
    issues = [event for event in result if event.type is EventType.LOADGEN_ISSUE_CALLED]
    payload = [event.data or {} for event in issues]
    assert sorted((item["prompt_id"], item["turn"]) for item in payload) == turns
    assert len({item["conversation"] for item in payload}) == SESSIONS
    assert all(item["tags"] == {"class": str(item["prompt_id"] % 3)} for item in payload)
    # Each worker tells the text of a prompt once, and of later turns only what is new.
    for item in payload:
        index, turn = item["prompt_id"], item["turn"]
        whole = must_be_asked(index, turn, history)
        assert item["texts"] == {"messages": whole if not turn else whole[-1:]}
    _assert_sequential(result)


def _assert_sequential(expected: Sequence[Event]) -> None:
    """No turn is issued, or even due, before the one ahead of it is over."""
    ends = {event.sample_uuid: event.at_ns for event in expected if event.type is EventType.COMPLETE}
    over: dict[tuple[str, int], int] = {}
    for event in expected:
        if event.type is EventType.LOADGEN_ISSUE_CALLED:
            data = event.data or {}
            over[data["conversation"], data["turn"]] = ends[event.sample_uuid]
            if data["turn"]:
                assert over[data["conversation"], data["turn"] - 1] <= data["scheduled_ns"] <= event.at_ns
