"""Runs to report on, written by hand: `a_run().answers(50, 60, 70).ends()` is one streamed answer."""

from __future__ import annotations

import pickle
from array import array
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import pytest

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from reporter.log.database import open_log
from reporter.log.query import QueryResult
from reporter.log.tables import BIG_TABLES
from tests.remembered_logs import remembered_log, remembered_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recorder.schema import Heartbeat
    from reporter import Report
    from reporter.log.database import OpenLog

BASE_NS = 5_000_000_000_000_000_000
"""Where the runs begin: far above 2**53, so that a detour through floats would show."""

BYTES = 100
"""Of each response, unless a test says otherwise."""

WALL_NS = 1_767_323_045_678_901_234


def ns(ms: float) -> int:
    """A moment of a run, in ms since its start, as the log has it."""
    return BASE_NS + round(ms * 1e6)


MOST_OPENED = 4
"""How many runs are kept."""

_WRITTEN: dict[bytes, Path] = {}
"""The folders of such runs."""


@dataclass
class Run:
    """A run in the making; all moments are ms since its start."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=lambda: {"load": {"kind": "closed", "concurrency": 1}})
    environment: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    requests: int = 0
    beat: Heartbeat | None = None

    def session(self, kind: EventType, at_ms: float, **data: Any) -> Self:
        """A session event."""
        self.events.append(Event(kind, ns(at_ms), None, data))
        return self

    def begins(self, at_ms: float = 0, *, duration_s: float | None = None) -> Self:
        """The performance phase starts."""
        return self.session(EventType.PHASE_STARTED, at_ms, phase="performance", duration_s=duration_s)

    def stops(self, at_ms: float, scheduled: int | None = None) -> Self:
        """Issuing stops."""
        scheduled = self.requests if scheduled is None else scheduled
        return self.session(EventType.STOP_PERFORMANCE_TRACKING, at_ms, scheduled=scheduled)

    def ends(self, at_ms: float = 1000, reason: str = "completed") -> Self:
        """The run ends in order."""
        return self.session(EventType.TEST_ENDED, at_ms, reason=reason)

    def happens(self, kind: EventType, at_ms: float, uuid: str | None = None, **data: Any) -> Self:
        """One event of one request."""
        self.events.append(Event(kind, ns(at_ms), uuid or f"request {self.requests}", data))
        return self

    def issues(
        self,
        at_ms: float = 0,
        *,
        uuid: str | None = None,
        scheduled: float | None = None,
        phase: str = "performance",
        prompt: dict[str, Any] | None = None,
        sent: float | None = None,
        about: dict[str, Any] | None = None,
        **sending: Any,
    ) -> Self:
        """A request is issued, with what there is to say about it, and sent unless `sent` is negative."""
        self.requests += 1
        data = {
            "scheduled_ns": ns(at_ms if scheduled is None else scheduled),
            "phase": phase,
            "prompt_id": self.requests,
            **(about or {}),
            **({} if prompt is None else {"texts": prompt}),
        }
        self.happens(EventType.LOADGEN_ISSUE_CALLED, at_ms, uuid, **data)
        if sent is None or sent >= 0:
            self.happens(EventType.REQUEST_SENT, at_ms if sent is None else sent, uuid, **sending)
        return self

    def answers(
        self,
        *arrivals: float,
        at_ms: float = 0,
        complete: float | None = None,
        usage: tuple[int | None, int | None] | None = None,
        kind: EventType = EventType.COMPLETE,
        uuid: str | None = None,
        texts: dict[str, Any] | None = None,
        issue: dict[str, Any] | None = None,
        **more: Any,
    ) -> Self:
        """A request is issued, and chunks with a token arrive at these moments; then it is over."""
        issue = {"sent": at_ms, **(issue or {})}
        self.issues(at_ms, uuid=uuid, **issue)
        over = complete if complete is not None else max(arrivals, default=at_ms)
        if arrivals:
            self.happens(EventType.FIRST_CHUNK, arrivals[0], uuid)
        stamps = (
            {
                "first_token_ns": ns(arrivals[0]),
                "first_output_ns": ns(arrivals[0]),
                "first_visible_ns": ns(arrivals[0]),
                "last_token_ns": ns(arrivals[-1]),
            }
            if arrivals
            else {}
        )
        data = {
            "status": 200,
            "first_byte_ns": ns(arrivals[0] if arrivals else over),
            **stamps,
            "chunks": len(arrivals),
            "reads": len(arrivals),
            "coalesced": 0,
            "bytes": BYTES,
            "finish_reason": "stop",
            "stream": True,
            **({"input_tokens": usage[0], "output_tokens": usage[1]} if usage else {}),
            "chunk_gaps_us": gaps_us(ns(issue["sent"]), [ns(moment) for moment in arrivals]),
            **({} if texts is None else {"texts": texts}),
            **more,
        }
        return self.happens(kind, over, uuid, **data)

    def fails(self, error: str = "reset", *, at_ms: float = 0, failed: float = 10, **more: Any) -> Self:
        """A request is issued, and fails."""
        payload = {"error": error, "message": f"{error}!"} | more
        return self.issues(at_ms).happens(EventType.ERROR, failed, **payload)

    def write(self) -> Path:
        """The run's folder, with the log of all this."""
        session = Session("a session", BASE_NS, WALL_NS, self.settings, self.environment)
        store = Store.create(self.folder / "events.db", session)
        store.append([schema.row(event) for event in self.events], self.beat)
        store.close()
        return self.folder

    def report(self, **options: Any) -> Report:
        """What the reporter makes of it; the same run of several cases is written and loaded once.

        What it computes for the same options is computed once, whatever rules make of it.
        """
        content = pickle.dumps((self.settings, self.environment, self.events, self.beat))
        if content not in _WRITTEN:
            _WRITTEN[content] = self.write()
            if len(_WRITTEN) > MOST_OPENED:
                _WRITTEN.pop(next(iter(_WRITTEN)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("reporter.reporter.open_for_report", remembered_log)
            patch.setattr("reporter.validation.compute", remembered_report)
            return MetricsReporter(_WRITTEN[content]).create_report(**options)


def gaps_us(sent_ns: int, arrivals_ns: list[int]) -> bytes:
    """Arrivals as `recorder.schema` stores them."""
    offsets = [0, *(round((arrival - sent_ns) / 1000) for arrival in arrivals_ns)]
    return array("I", [after - before for before, after in pairwise(offsets)]).tobytes()


@pytest.fixture(scope="session")
def a_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Start describing a run."""

    def new(**load: Any) -> Run:
        run = Run(tmp_path_factory.mktemp("run"))
        if load:
            run.settings["load"] = load
        return run.begins()

    return new


@pytest.fixture(scope="session")
def ask() -> Iterator[Callable[[Path, str], QueryResult]]:
    """What `query` answers of a finished run, which is opened once, with every table, for all queries."""
    opened: dict[Path, OpenLog] = {}

    def answer(run: Path, sql: str) -> QueryResult:
        log = opened.pop(run, None) or open_log(run, BIG_TABLES)
        opened[run] = log
        if len(opened) > MOST_OPENED:
            opened.pop(next(iter(opened))).close()
        with log.database.cursor() as connection:
            result = connection.execute(sql)
            return QueryResult([column[0] for column in result.description or ()], result.fetchall())

    yield answer
    for log in opened.values():
        log.close()
