"""The runs and the series of a folder, from their files."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import REPORT
from loadgen.sessions.files.series_file import SERIES, read
from recorder.errors import LogError
from recorder.lock import is_held
from reporter.json_values import members, number, text, whole
from reporter.log.settings import head
from reporter.log.storage_place import has_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

RUNNING: Final = "running"

DAMAGED: Final = "damaged"

ACCEPTED: Final = "accepted"

_DEEPEST: Final = 3
"""A series is in a folder, and its runs are in the series."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A run as a row of the list.

    Attributes:
        folder: Its path, relative to the listed folder.
        started_at: ISO 8601 in UTC, None where that is unknown.
        model: The model.
        kind: `performance`, `accuracy`, or the kind of the series, also of a series' run.
        load: The load in a word: `closed 16`, `poisson 20/s`.
        requests: Measured requests issued; None without a report.
        runs: The number of runs of a series; None for a run.
        state: `valid`, `INVALID`, `OVERLOADED`, `accepted` (invalid, with `--on-invalid warn`), `running`,
            `unreported` (there is a log, and no report), `damaged`; a verdict (`PASS`, `FAIL`, …, also
            `PASS, accepted`) where something was required. A series is `complete`, `incomplete` or `running`.
        qps: Completed requests per second.
        output_tps: Output tokens per second.
        failed: Measured requests that failed.
        ttft_p50_ms: The median time to the first token.
        ttft_p99_ms: Its p99.
        score: The first headline score, from 0 to 1 where it is a share.
        score_unit: The unit of `score`: `share`, or that of the benchmark.
        why: The error of a damaged run.
    """

    folder: str
    started_at: str | None = None
    model: str | None = None
    kind: str | None = None
    load: str | None = None
    requests: int | None = None
    state: str = DAMAGED
    qps: float | None = None
    output_tps: float | None = None
    failed: int | None = None
    ttft_p50_ms: float | None = None
    ttft_p99_ms: float | None = None
    score: float | None = None
    score_unit: str | None = None
    why: str | None = None
    runs: int | None = None


def listed(folder: Path) -> list[Listed]:
    """The runs and the series in a folder, and the runs of its series, by start time.

    Reports are read where they exist; of a log without one, only the first rows.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name the one with your runs: loadgen list runs DIR")
    runs = [_listed(run, folder, kind) for run, kind in _runs(folder, None, _DEEPEST)]
    series = [_listed_series(place, folder, runs) for place in _series(folder, _DEEPEST) if place != folder]
    return sorted([*series, *runs], key=lambda run: (run.started_at or "", run.folder))


def _series(folder: Path, depth: int) -> Iterator[Path]:
    """The folders of series in and below a folder."""
    if _series_kind(folder) is not None:
        yield folder
    elif depth > 1 and not has_log(folder):
        for below in sorted(folder.iterdir()):
            if below.is_dir() and not below.is_symlink():
                yield from _series(below, depth - 1)


def _listed_series(place: Path, top: Path, runs: Sequence[Listed]) -> Listed:
    """A series as a row: its start, model and requests are those of its runs."""
    name = str(place.relative_to(top))
    own = [run for run in runs if (top / run.folder).parent == place]
    try:
        planned = read(place)
    except UsageError as error:
        return Listed(name, kind=_series_kind(place), why=_in_short(error), runs=len(own))
    ended = sum(run.state not in {RUNNING, DAMAGED, "unreported"} for run in own)
    models = {run.model for run in own}
    return Listed(
        folder=name,
        started_at=min((run.started_at for run in own if run.started_at), default=None),
        model=models.pop() if len(models) == 1 else None,
        kind=str(planned.kind),
        load=f"{ended} of {len(planned.points)} runs",
        requests=sum(run.requests or 0 for run in own),
        state=RUNNING if is_held(place) else "complete" if ended == len(planned.points) else "incomplete",
        runs=len(own),
    )


def _runs(folder: Path, kind: str | None, depth: int) -> Iterator[tuple[Path, str | None]]:
    """The folders of runs in and below a folder, each with the kind of the series that it belongs to."""
    if has_log(folder) or (folder / REPORT).exists():
        yield folder, kind
        return
    kind = _series_kind(folder) or kind
    if not depth:
        return
    for below in sorted(folder.iterdir()):
        if below.is_dir() and not below.is_symlink():
            yield from _runs(below, kind, depth - 1)


def _series_kind(folder: Path) -> str | None:
    try:
        return str(orjson.loads((folder / SERIES).read_bytes())["kind"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _listed(run: Path, top: Path, kind: str | None) -> Listed:
    name = str(run.relative_to(top))
    try:
        state = (run / REPORT).stat()
        run_row = _of_report_file(run / REPORT, (state.st_mtime_ns, state.st_size), name, kind)
    except FileNotFoundError:
        run_row = _of_log(name, run, kind)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration) as error:
        run_row = Listed(name, kind=kind, why=f"{REPORT} cannot be read ({_in_short(error)})")
    return replace(run_row, state=RUNNING, why=None) if is_held(run) else run_row


@lru_cache(4096)
def _of_report_file(path: Path, _: tuple[int, int], name: str, kind: str | None) -> Listed:
    """The row of a report, read once in each state: a viewer lists a folder every few seconds."""
    return _of_report(name, orjson.loads(path.read_bytes()), kind)


def _of_report(name: str, report: Mapping[str, Any], kind: str | None) -> Listed:
    run, verdict = report["run"], report.get("verdict")
    validity = report["validity"]
    accepted = validity.get("accepted") is True
    overloaded = validity.get("overloaded") is True
    valid = "valid" if validity["valid"] else ACCEPTED if accepted else "INVALID"
    status = str(verdict["status"]) + f", {ACCEPTED}" * accepted if verdict else valid
    status = "OVERLOADED" if overloaded and status == "INVALID" else status
    scores = [next(iter(score["headlines"].values())) for score in report.get("accuracy") or ()]
    return Listed(
        folder=name,
        started_at=text(run.get("started_at")),
        model=text(run.get("model")),
        kind=kind or ("accuracy" if scores else "performance"),
        load=_load(members(run.get("load"))),
        requests=whole(report["counts"]["issued"]),
        state=status,
        qps=number(report["throughput"]["qps"]),
        output_tps=number(report["throughput"]["output_tps"]),
        failed=whole(report["counts"]["failed"]),
        ttft_p50_ms=number(members(report.get("ttft_ms")).get("p50")),
        ttft_p99_ms=number(members(report.get("ttft_ms")).get("p99")),
        score=number(scores[0]["value"]) if scores else None,
        score_unit=text(scores[0]["unit"]) if scores else None,
    )


def _of_log(name: str, run: Path, kind: str | None) -> Listed:
    """A run without a report: its log has the settings."""
    try:
        log_head = head(run)
    except LogError as error:
        return Listed(name, kind=kind, why=_in_short(error))
    started = datetime.fromtimestamp(log_head.started_wall_ns / 1e9, UTC).isoformat(timespec="milliseconds")
    load = _load(members(log_head.settings.get("load")))
    return Listed(name, started, text(log_head.settings.get("model")), kind, load, state="unreported")


def _load(load: Mapping[str, Any]) -> str:
    kind = str(load.get("kind") or "")
    if load.get("concurrency") is not None:
        return f"{kind} {load.get('profile') or load['concurrency']}"
    rate = number(load.get("rate"))
    return f"{kind} {rate:g}/s" if rate else kind


def _in_short(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
