"""The end of one log that is being written, read again and again at little cost.

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

from recorder.column_types import require_types
from recorder.errors import LogError
from recorder.event import EventType
from reporter.json_values import document, members, number, text, whole
from reporter.live.current_figures import WINDOW_S
from reporter.live.target_tallies import SoFar
from reporter.log.source import readable

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.live.ended_requests import EndedRequests

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
    SELECT sum(coalesce(json_extract(data, '$.output_tokens'), json_extract(data, '$.chunks'))),
        sum(json_extract(data, '$.input_tokens'))
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


class Rates(NamedTuple):
    """Rates per second, over a number of seconds."""

    span_s: float
    ended: float
    issued: float
    tokens: float


class CompletedTimes(NamedTuple):
    """A completed request: time of the end, TTFT and TPOT in ms, where available."""

    at_ns: int
    ttft_ms: float | None
    tpot_ms: float | None


class LogTail:
    """A reader of a log's last segment.

    Attributes:
        phase: What the last phase began with.
        phase_ns: When; 0 before the first.
        errors: The requests that failed in the phase, by the name of the failure.
        scores: The number of scores, and their sum.
        client: The last reading of each worker, of the parent and of the recorder, by their names.
        ended: Takes the requests that end; None without targets.
    """

    def __init__(self, log: Path, *, is_elsewhere: bool = False) -> None:
        self.settings: dict[str, Any] = {}
        self.phase: dict[str, Any] = {"phase": "setup"}
        self.phase_ns = self.now_ns = 0
        self.errors = Counter[str]()
        self.scores = (0, 0.0)
        self.client: dict[str, dict[str, Any]] = {}
        self.ended: EndedRequests | None = None
        self._log = log
        self._is_elsewhere = is_elsewhere
        self._last_seq: int | None = None
        self._counts = Counter[int]()
        self._before = Counter[int]()
        self._tokens = self._input_tokens = 0.0
        self._tokens_before = (0.0, 0.0)
        self._measured_ns: int | None = None
        self._moments: deque[_Moment] = deque()
        self._times: deque[CompletedTimes] = deque(maxlen=_MOST_KEPT)

    def read(self) -> None:
        """Read the new events.

        Raises:
            LogError: The log is missing, damaged, or of a version that cannot be read.
            BeingWrittenError: Another machine writes it faster than it can be copied.
        """
        try:
            with (
                readable(self._log, is_elsewhere=self._is_elsewhere) as uri,
                closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection,
            ):
                connection.execute("BEGIN")  # one moment
                self._read(connection)
        except sqlite3.Error as error:
            raise LogError(f"{self._log}: the log is damaged and cannot be read ({error})") from error

    @property
    def counts(self) -> Counter[int]:
        """Request events by code since the measured phase began; before that, of the warm-up."""
        return self._counts - self._before

    @property
    def so_far(self) -> SoFar:
        """The totals of the measured phase; all are 0 before."""
        if self._measured_ns is None:
            return SoFar(0.0, 0, 0, 0, 0, 0.0, 0.0)
        output_tokens, input_tokens = self._tokens_before
        return SoFar(
            seconds=max(0.0, (self.now_ns - self._measured_ns) / 1e9),
            issued=self.counts[EventType.LOADGEN_ISSUE_CALLED],
            completed=self.counts[EventType.COMPLETE],
            failed=self.counts[EventType.ERROR],
            cancelled=self.counts[EventType.CANCELLED],
            input_tokens=self._input_tokens - input_tokens,
            output_tokens=self._tokens - output_tokens,
        )

    @property
    def in_flight(self) -> int:
        """Requests in flight, from any phase."""
        return self._counts[EventType.LOADGEN_ISSUE_CALLED] - sum(self._counts[code] for code in _ENDS)

    @property
    def recent(self) -> list[CompletedTimes]:
        """The requests that completed in the last seconds, the latest of many."""
        return [times for times in self._times if times.at_ns > self.now_ns - WINDOW_S * 1e9]

    @property
    def rates(self) -> Rates | None:
        """The rates of the last seconds; None while unknown."""
        if not self._moments or (span_s := (self._moments[-1].at_ns - self._moments[0].at_ns) / 1e9) <= 0:
            return None
        first, last = self._moments[0], self._moments[-1]
        return Rates(
            span_s,
            (last.ended - first.ended) / span_s,
            (last.issued - first.issued) / span_s,
            (last.tokens - first.tokens) / span_s,
        )

    def _read(self, connection: sqlite3.Connection) -> None:
        require_types(connection, self._log, after_seq=self._last_seq or 0)
        if self._last_seq is None:
            row = connection.execute(_HEAD).fetchone()
            self.settings = members(document(row[0])) if row else {}
            self._last_seq = _first_seq(connection) - 1
        last = connection.execute(_LAST).fetchone()
        if last is None or last[0] <= self._last_seq:
            return
        since, (until, self.now_ns) = self._last_seq, last
        self._last_seq = until
        for seq, code, at_ns, data in connection.execute(
            _RARE,
            (since, until, EventType.PHASE_STARTED, EventType.TELEMETRY, EventType.ERROR, EventType.SCORED),
        ):
            self._take(connection, (since, seq), code, at_ns, members(document(data)))
        requests = (EventType.LOADGEN_ISSUE_CALLED, EventType.CANCELLED)
        self._counts.update(dict(connection.execute(_COUNTS, (since, until, *requests)).fetchall()))
        tokens, input_tokens = _tokens(connection, since, until)
        self._tokens += tokens
        self._input_tokens += input_tokens
        if self.ended is not None:
            self.ended.read(connection, since, until)
        completed = connection.execute(_COMPLETED, (since, until, EventType.COMPLETE, MOST_READ)).fetchall()
        self._times.extend(_times(*row) for row in reversed(completed))
        ended = sum(self._counts[code] for code in _ENDS)
        self._moments.append(
            _Moment(self.now_ns, self._counts[EventType.LOADGEN_ISSUE_CALLED], ended, self._tokens)
        )
        while len(self._moments) > 1 and self._moments[1].at_ns <= self.now_ns - WINDOW_S * 1e9:
            self._moments.popleft()

    def _take(
        self,
        connection: sqlite3.Connection,
        read: tuple[int, int],
        code: int,
        at_ns: int,
        data: dict[str, Any],
    ) -> None:
        """Take one of the events that are read one by one."""
        if code == EventType.PHASE_STARTED:
            self.phase, self.phase_ns = data, at_ns
            if data.get("phase") in {"warmup", "performance"}:
                since, seq = read
                counts = (since, seq, EventType.LOADGEN_ISSUE_CALLED, EventType.CANCELLED)
                self._before = self._counts + Counter(dict(connection.execute(_COUNTS, counts).fetchall()))
                self.errors.clear()
                tokens, input_tokens = _tokens(connection, since, seq)
                tokens, input_tokens = self._tokens + tokens, self._input_tokens + input_tokens
                if data["phase"] == "performance":
                    self._measured_ns, self._tokens_before = at_ns, (tokens, input_tokens)
                ended = sum(self._before[end] for end in _ENDS)
                issued = self._before[EventType.LOADGEN_ISSUE_CALLED]
                self._moments = deque([_Moment(at_ns, issued, ended, tokens)])
        elif code == EventType.TELEMETRY:
            source = text(data.get("source")) or ""
            self.client[f"{source} {data.get('worker', '')}".strip()] = data
        elif code == EventType.ERROR:
            self.errors[text(data.get("error")) or "unknown"] += 1
        elif (value := number(data.get("value"))) is not None:
            self.scores = (self.scores[0] + 1, self.scores[1] + value)


def _first_seq(connection: sqlite3.Connection) -> int:
    """The first event of the last segment; older logs have one segment, and no table of segments."""
    try:
        (first,) = connection.execute(_SEGMENT).fetchone()
    except sqlite3.OperationalError:
        return 1
    return first or 1


def _tokens(connection: sqlite3.Connection, since: int, until: int) -> tuple[float, float]:
    """The output and the input tokens of the requests that completed behind one event, up to another."""
    ((output, of_prompts),) = connection.execute(_TOKENS, (since, until, EventType.COMPLETE)).fetchall()
    return number(output) or 0.0, number(of_prompts) or 0.0


def _times(at_ns: int, data: str | None, first_gap: bytes | None) -> CompletedTimes:
    figures = members(document(data or "{}"))
    first, last = whole(figures.get("first_token_ns")), whole(figures.get("last_token_ns"))
    tokens = whole(figures.get("output_tokens")) or whole(figures.get("chunks")) or 0
    ttft_ms = int.from_bytes(first_gap, "little") / 1e3 if first_gap else None
    tpot_ms = (last - first) / 1e6 / (tokens - 1) if first and last and tokens > 1 and last > first else None
    return CompletedTimes(at_ns, ttft_ms, tpot_ms)
