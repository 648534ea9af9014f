"""`loadgen export --perfetto`: a run as a trace for ui.perfetto.dev and the trace processor."""

from __future__ import annotations

import gzip
from heapq import heappop, heappush
from itertools import accumulate, chain
from typing import IO, TYPE_CHECKING, Any, Final

from loadgen.plugins.exports.exported import Exported, opened, require_writable, writing
from loadgen.plugins.exports.trace_events import END, TraceEvents
from reporter.json_values import document, members
from reporter.log.database import streamed_figures
from reporter.log.subjects import has_sensors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from loadgen.plugins.exports.trace_events import Track, Value
    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog

_FAST: Final = 1
"""Of gzip's levels: five times smaller; the best one takes ten times as long for a tenth."""

TABLES: Final = ("events",)
"""What has to be loaded of a log first, if it has retries."""

MEASURED: Final = "measured"
"""The category of the slices of completed, measured requests: those that a report is about."""

_AT_ONCE: Final = 256
_UNITS: Final[Mapping[str, str]] = {"_ms": "ms", "_bytes": "bytes", "_share": "", "_pct": "%", "_watts": "W"}
_ARGUMENTS: Final = (
    *("sample_uuid", "prompt_id", "conversation_id", "turn", "tags", "status", "error", "error_message"),
    *("http_status", "ttft_ms", "tpot_ms", "latency_ms", "input_tokens", "output_tokens", "finish_reason"),
    *("attempts", "trace_id"),
)
_Count = tuple[int, str, str, float, str]
"""When, of which source, the title of the track, the value and its unit."""

_PLACES: Final = ("worker", "gpu", "device", "endpoint", "url")
"""Members of a reading that say whose it is."""

_NO_PLACES: Final = frozenset({"server", "uuid", "UUID", "name"})
"""Labels of a sensor without which its others say what was read."""


def write_trace(settings: ExportSettings, file: Path) -> Exported:
    """Write the trace, by the definitions of the rules that the run was started with."""
    require_writable("--perfetto", file, force=settings.force)
    with opened(settings) as log, writing(file) as unfinished:
        ((requests,),) = log.execute("SELECT count(*) FROM requests WHERE issued_ns IS NOT NULL").fetchall()
        _write(trace(log), unfinished, compressed=file.suffix == ".gz")
    return Exported("file", str(file), requests, {"bytes": file.stat().st_size})


def _write(pieces: Iterator[bytes], file: IO[bytes], *, compressed: bool) -> None:
    if not compressed:
        file.writelines(pieces)
        return
    # Without the time of writing: the same run gives the same file.
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_FAST, mtime=0) as packed:
        packed.writelines(pieces)


def trace(log: OpenLog) -> Iterator[bytes]:
    """Make a trace of a run, for a file or a compressor."""
    events = TraceEvents()
    ((started_ns, wall_ns),) = log.execute("SELECT started_at_ns, started_wall_ns FROM session").fetchall()
    yield events.start(started_ns, wall_ns)
    yield from _of_the_run(log, events)
    yield from _telemetry(log, events)
    yield from _requests(log, events)
    yield END


def _of_the_run(log: OpenLog, events: TraceEvents) -> Iterator[bytes]:
    """Phases, findings, and the number of requests in flight."""
    run, declared = events.process("run")
    phases, of_phases = events.track("phases", run, 0)
    findings, of_findings = events.track("findings", run, 1)
    in_flight = events.counter_track("requests in flight", run, "requests")
    yield declared + of_phases + of_findings
    for phase, started_ns, ended_ns in log.execute(
        "SELECT phase, started_ns, ended_ns FROM phases ORDER BY started_ns"
    ).fetchall():
        yield events.begin(started_ns, phases, phase, "phase")
        if ended_ns is not None:
            yield events.end(ended_ns, phases)
    for at_ns, code, severity, text in log.execute(
        "SELECT at_ns, code, severity, message FROM findings"
    ).fetchall():
        yield events.instant(at_ns, findings, code or "finding", severity or "info", {"message": text})
    for rows in streamed_figures(log, "in_flight", _AT_ONCE):
        yield b"".join(events.counter(row["at_ns"], in_flight, row["in_flight"]) for row in rows)


def _telemetry(log: OpenLog, events: TraceEvents) -> Iterator[bytes]:
    """Every logged number of the client and of sensors, as a counter of the source."""
    sources: dict[str, int] = {}
    tracks: dict[tuple[str, str], Track] = {}
    for at_ns, source, title, value, unit in chain(_of_the_client(log), _of_sensors(log)):
        if (source, title) not in tracks:
            if source not in sources:
                sources[source], declared = events.process(f"telemetry: {source}")
                yield declared
            tracks[source, title] = events.counter_track(title, sources[source], unit)
        yield events.counter(at_ns, tracks[source, title], value)


def _of_the_client(log: OpenLog) -> Iterator[_Count]:
    rows = log.execute("SELECT at_ns, source, data::VARCHAR FROM telemetry")
    while readings := rows.fetchmany(_AT_ONCE):
        for at_ns, source, data in readings:
            values = members(document(data))
            place = " ".join(f"{name} {values[name]}" for name in _PLACES if values.get(name) is not None)
            for name, value in values.items():
                if name in _PLACES or isinstance(value, bool) or not isinstance(value, int | float):
                    continue
                yield at_ns, source or "telemetry", f"{place} {name}".strip(), value, _unit(name)


def _of_sensors(log: OpenLog) -> Iterator[_Count]:
    if not has_sensors(log):
        return
    log.load(("sensors",))
    rows = log.execute("SELECT at_ns, source, labels::VARCHAR, name, value, unit FROM sensors")
    while readings := rows.fetchmany(_AT_ONCE):
        for at_ns, source, labels, name, value, unit in readings:
            parts = members(document(labels)).items()
            place = " ".join(f"{label} {text}" for label, text in parts if label not in _NO_PLACES)
            yield at_ns, source, f"{place} {name}".strip(), value, unit.replace("1", "")


def _unit(name: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")


def _requests(log: OpenLog, events: TraceEvents) -> Iterator[bytes]:
    """The streams of each endpoint; a request takes the lowest stream that is free."""
    retries = _retries(log)
    endpoints: dict[str | None, tuple[int, Lanes, list[Track]]] = {}
    for rows in streamed_figures(log, "traced_requests", _AT_ONCE):
        for row in rows:
            endpoint = row["endpoint"]
            if endpoint not in endpoints:
                process, declared = events.process(f"requests: {endpoint or 'endpoint'}")
                endpoints[endpoint] = process, Lanes(), []
                yield declared
            process, lanes, tracks = endpoints[endpoint]
            lane = lanes.take(row["issued_ns"], row["ended_ns"])
            if lane == len(tracks):
                track, declared = events.track(f"stream {lane + 1}", process, lane)
                tracks.append(track)
                yield declared
            yield b"".join(_request(events, tracks[lane], row, retries.get(row["sample_uuid"], [])))


def _request(
    events: TraceEvents, track: Track, row: Mapping[str, Any], retries: list[tuple[int, dict[str, Any]]]
) -> Iterator[bytes]:
    category = _category(row)
    arguments: dict[str, Value] = {name: row[name] for name in _ARGUMENTS}
    ended_ns, sent_ns, first_ns, last_ns = (
        row[f"{name}_ns"] for name in ("ended", "sent", "first_token", "last_token")
    )
    yield events.begin(row["issued_ns"], track, "request", category, arguments)
    yield events.begin(row["issued_ns"], track, "send", category)
    for at_ns, failed in retries:
        yield events.instant(at_ns, track, "retry", category, {"error": str(failed.get("error"))})
    if (over_ns := ended_ns if sent_ns is None else sent_ns) is not None:
        yield events.end(over_ns, track)
    if sent_ns is not None:
        yield events.begin(sent_ns, track, "prefill", category)
        if (over_ns := ended_ns if first_ns is None else first_ns) is not None:
            yield events.end(over_ns, track)
    if first_ns is not None:
        yield events.begin(first_ns, track, "decode", category)
        yield from events.instants(_arrivals(row), track, "chunk", category)
        if (over_ns := ended_ns if last_ns is None else last_ns) is not None:
            yield events.end(over_ns, track)
    if ended_ns is not None:
        yield events.end(ended_ns, track)


def _category(row: Mapping[str, Any]) -> str:
    if not row["measured"]:
        return str(row["phase"])
    return MEASURED if row["status"] == "completed" else str(row["status"])


def _arrivals(row: Mapping[str, Any]) -> list[int]:
    """The arrival times of chunks, between the exact stamps of the first and the last token."""
    gaps, sent_ns = row["chunk_gaps_us"], row["sent_ns"]
    if not gaps or sent_ns is None:
        return []
    first_ns, last_ns = row["first_token_ns"], row["last_token_ns"]
    offsets = accumulate(gaps)
    moments = [max(first_ns, sent_ns + 1000 * offset) for offset in offsets]
    return moments if last_ns is None else [min(at_ns, last_ns) for at_ns in moments]


def _retries(log: OpenLog) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """The attempts that failed and were followed by another, by request."""
    ((retried,),) = log.execute("SELECT count(*) FROM requests WHERE attempts > 1").fetchall()
    if not retried:
        return {}
    log.load(TABLES)
    retries: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for uuid, at_ns, data in log.execute(
        "SELECT sample_uuid, at_ns, data::VARCHAR FROM events WHERE type = 'RETRY' ORDER BY seq"
    ).fetchall():
        retries.setdefault(uuid, []).append((at_ns, members(document(data))))
    return retries


class Lanes:
    """Gives each interval the lowest lane that is free."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []
        self._free: list[int] = []
        self._count = 0

    def take(self, start: int, end: int | None) -> int:
        """Put an interval on a lane."""
        while self._busy and self._busy[0][0] <= start:
            heappush(self._free, heappop(self._busy)[1])
        if self._free:
            lane = heappop(self._free)
        else:
            lane = self._count
            self._count += 1
        if end is not None:
            heappush(self._busy, (end, lane))
        return lane
