"""The end of a log that is being written, read again and again at little cost.

Plain SQLite reads what is new by its row numbers: counts and sums are its own aggregates, and of the requests
that completed at most `MOST_READ` are looked at per reading, the latest ones. DuckDB, which computes the
report, would take a hundred times as long to start. The figures are those of the report within what a view of
the last seconds needs: TTFT is the first gap of a request's chunks, TPOT divides by its tokens.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, deque
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import LogError
from recorder.event import EventType
from recorder.store import log_path
from reporter.kinds import document, members, number, text, whole
from reporter.live.figures import WINDOW_S, LiveFigures, Percentiles
from reporter.log.source import readable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_READ: Final = 500
"""Completed requests per reading whose times are taken: the latest ones."""
_MOST_KEPT: Final = 2000
"""Of the last seconds."""

_HEAD: Final = "SELECT settings FROM session"
_SEGMENT: Final = "SELECT max(first_seq) FROM sittings"
_COUNTS: Final = (
    "SELECT code, count(*) FROM events WHERE seq > ? AND seq <= ? AND code BETWEEN ? AND ? GROUP BY code"
)
_RARE: Final = (
    "SELECT seq, code, at_ns, data FROM events "
    "WHERE seq > ? AND seq <= ? AND code IN (?, ?, ?, ?) ORDER BY seq"
)
_TOKENS: Final = """
    SELECT sum(coalesce(json_extract(data, '$.output_tokens'), json_extract(data, '$.chunks')))
    FROM events WHERE seq > ? AND seq <= ? AND code = ?"""
_COMPLETED: Final = """
    SELECT at_ns, data, substr(chunk_gaps_us, 1, 4) FROM events
    WHERE seq > ? AND seq <= ? AND code = ? ORDER BY seq DESC LIMIT ?"""
_LAST: Final = "SELECT seq, at_ns FROM events ORDER BY seq DESC LIMIT 1"

_ENDS: Final = (EventType.COMPLETE, EventType.ERROR, EventType.CANCELLED)


class _Moment(NamedTuple):
    """Totals at a moment."""

    at_ns: int
    issued: int
    ended: int
    tokens: float


class _Times(NamedTuple):
    """A completed request: when it ended, its TTFT and its TPOT in ms, where it has them."""

    at_ns: int
    ttft_ms: float | None
    tpot_ms: float | None


class LogTail:
    """Reads the figures of a run from its log, of its last segment.

    Args:
        run: The run's folder, or the log itself.
    """

    def __init__(self, run: Path) -> None:
        self._log = log_path(run)
        self._last_seq: int | None = None
        self._settings: dict[str, Any] = {}
        self._phase: dict[str, Any] = {"phase": "setup"}
        self._phase_ns = self._now_ns = 0
        self._counts = Counter[int]()
        self._before = Counter[int]()
        self._errors = Counter[str]()
        self._tokens = 0.0
        self._scores = [0, 0.0]
        self._client: dict[str, dict[str, Any]] = {}
        self._moments: deque[_Moment] = deque()
        self._times: deque[_Times] = deque(maxlen=_MOST_KEPT)

    def read(self) -> LiveFigures:
        """Read what is new.

        Raises:
            LogError: The log is missing, damaged, or of a version that cannot be read.
        """
        try:
            with (
                readable(self._log) as uri,
                closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
            ):
                connection.execute("BEGIN")  # one moment
                self._read(connection)
        except sqlite3.Error as error:
            raise LogError(f"{self._log}: the log is damaged and cannot be read ({error})") from error
        return self._figures()

    def _read(self, connection: sqlite3.Connection) -> None:
        if self._last_seq is None:
            row = connection.execute(_HEAD).fetchone()
            self._settings = members(document(row[0])) if row else {}
            self._last_seq = _first_seq(connection) - 1
        last = connection.execute(_LAST).fetchone()
        if last is None or last[0] <= self._last_seq:
            return
        since, (until, self._now_ns) = self._last_seq, last
        self._last_seq = until
        for seq, code, at_ns, data in connection.execute(
            _RARE,
            (since, until, EventType.PHASE_STARTED, EventType.TELEMETRY, EventType.ERROR, EventType.SCORED),
        ):
            self._take(connection, (since, seq), code, at_ns, members(document(data)))
        requests = (EventType.LOADGEN_ISSUE_CALLED, EventType.CANCELLED)
        self._counts.update(dict(connection.execute(_COUNTS, (since, until, *requests)).fetchall()))
        ((tokens,),) = connection.execute(_TOKENS, (since, until, EventType.COMPLETE)).fetchall()
        self._tokens += number(tokens) or 0.0
        completed = connection.execute(_COMPLETED, (since, until, EventType.COMPLETE, MOST_READ)).fetchall()
        self._times.extend(_times(*row) for row in reversed(completed))
        ended = sum(self._counts[code] for code in _ENDS)
        self._moments.append(
            _Moment(self._now_ns, self._counts[EventType.LOADGEN_ISSUE_CALLED], ended, self._tokens)
        )
        while len(self._moments) > 1 and self._moments[1].at_ns <= self._now_ns - WINDOW_S * 1e9:
            self._moments.popleft()

    def _take(
        self,
        connection: sqlite3.Connection,
        read: tuple[int, int],
        code: int,
        at_ns: int,
        data: dict[str, Any],
    ) -> None:
        """Take one of the events that are read one by one.

        Args:
            connection: The log.
            read: The rows that were read before this reading, and the number of this event.
            code: What happened.
            at_ns: When.
            data: Its payload.
        """
        if code == EventType.PHASE_STARTED:
            self._phase, self._phase_ns = data, at_ns
            if data.get("phase") in {"warmup", "performance"}:
                since, seq = read
                counts = (since, seq, EventType.LOADGEN_ISSUE_CALLED, EventType.CANCELLED)
                self._before = self._counts + Counter(dict(connection.execute(_COUNTS, counts).fetchall()))
                self._errors.clear()
                ended = sum(self._before[end] for end in _ENDS)
                issued = self._before[EventType.LOADGEN_ISSUE_CALLED]
                self._moments = deque([_Moment(at_ns, issued, ended, self._tokens)])
        elif code == EventType.TELEMETRY:
            source = text(data.get("source")) or ""
            self._client[f"{source} {data.get('worker', '')}".strip()] = data
        elif code == EventType.ERROR:
            self._errors[text(data.get("error")) or "unknown"] += 1
        elif (value := number(data.get("value"))) is not None:
            self._scores = [self._scores[0] + 1, self._scores[1] + value]

    def _figures(self) -> LiveFigures:
        counts = self._counts - self._before
        load = members(self._settings.get("load"))
        first, last = (self._moments[0], self._moments[-1]) if self._moments else (None, None)
        span_s = (last.at_ns - first.at_ns) / 1e9 if first and last else 0.0
        recent = [times for times in self._times if times.at_ns > self._now_ns - WINDOW_S * 1e9]
        scored, total = self._scores
        return LiveFigures(
            phase=text(self._phase.get("phase")) or "setup",
            elapsed_s=max(0.0, (self._now_ns - self._phase_ns) / 1e9) if self._phase_ns else 0.0,
            planned_s=number(self._phase.get("duration_s")),
            planned_requests=whole(self._phase.get("requests")),
            issued=counts[EventType.LOADGEN_ISSUE_CALLED],
            completed=counts[EventType.COMPLETE],
            errors=Counter(self._errors),
            cancelled=counts[EventType.CANCELLED],
            in_flight=self._counts[EventType.LOADGEN_ISSUE_CALLED]
            - sum(self._counts[code] for code in _ENDS),
            rate=(last.ended - first.ended) / span_s if first and last and span_s else None,
            issued_rate=(last.issued - first.issued) / span_s if first and last and span_s else None,
            wanted_rate=number(load.get("rate")),
            output_tps=(last.tokens - first.tokens) / span_s if first and last and span_s else None,
            ttft=_percentiles([times.ttft_ms for times in recent if times.ttft_ms is not None]),
            tpot=_percentiles([times.tpot_ms for times in recent if times.tpot_ms is not None]),
            window_s=min(WINDOW_S, span_s),
            client=dict(self._client),
            scored=int(scored),
            mean_score=total / scored if scored else None,
        )


def _first_seq(connection: sqlite3.Connection) -> int:
    """The first event of the last segment; older logs have one segment, and no table of them."""
    try:
        (first,) = connection.execute(_SEGMENT).fetchone()
    except sqlite3.OperationalError:
        return 1
    return first or 1


def _times(at_ns: int, data: str | None, first_gap: bytes | None) -> _Times:
    figures = members(document(data or "{}"))
    first, last = whole(figures.get("first_token_ns")), whole(figures.get("last_token_ns"))
    tokens = whole(figures.get("output_tokens")) or whole(figures.get("chunks")) or 0
    ttft_ms = int.from_bytes(first_gap, "little") / 1e3 if first_gap else None
    tpot_ms = (last - first) / 1e6 / (tokens - 1) if first and last and tokens > 1 and last > first else None
    return _Times(at_ns, ttft_ms, tpot_ms)


def _percentiles(values: Sequence[float]) -> Percentiles | None:
    """By the method `nearest_rank`, which needs no interpolation."""
    if not values:
        return None
    ordered = sorted(values)
    return Percentiles(*(ordered[-(-share * len(ordered) // 100) - 1] for share in (50, 90, 99)))
