"""The runs and the series of a folder, from what they have left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.run_folder import REPORT
from recorder.lock import is_held
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

RUNNING: Final = "running"

DAMAGED: Final = "damaged"

ACCEPTED: Final = "accepted"

_DEEPEST: Final = 3
"""A series lies in a folder, and its runs in the series."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a line.

    Attributes:
        folder: Where it is, from the folder that is listed.
        started_at: ISO 8601 in UTC, None where that is not known.
        model: What was asked.
        kind: `performance`, `accuracy`, or that of the series it belongs to.
        load: The load in a word: `closed 16`, `poisson 20/s`.
        requests: Measured requests issued; None without a report.
        state: `valid`, `invalid`, `accepted` (invalid, with `--on-invalid warn`), `running`, `unreported`
            (there is a log, and no report), `damaged`; a verdict (`PASS`, `FAIL`, …, also `PASS, accepted`)
            where something was required.
        qps: Completed requests per second.
        ttft_p50_ms: The median time to the first token.
        score: The first headline score, from 0 to 1 where it is a share.
        why: What is wrong with a damaged one.
    """

    folder: str
    started_at: str | None = None
    model: str | None = None
    kind: str | None = None
    load: str | None = None
    requests: int | None = None
    state: str = DAMAGED
    qps: float | None = None
    ttft_p50_ms: float | None = None
    score: float | None = None
    why: str | None = None


def listed(folder: Path) -> list[Listed]:
    """The runs in a folder, those of its series included, by the time at which they were started.

    Reports are read where there are any; of a log without one only its first rows are.

    Raises:
        UsageError: The folder does not exist.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; name the one with your runs: loadgen list runs DIR")
    found = [_listed(run, folder, kind) for run, kind in _runs(folder, None, _DEEPEST)]
    return sorted(found, key=lambda one: (one.started_at or "", one.folder))


def _runs(folder: Path, kind: str | None, depth: int) -> Iterator[tuple[Path, str | None]]:
    """The folders of runs in and below a folder, each with the kind of the series that it belongs to."""
    if (folder / LOG_NAME).exists() or (folder / REPORT).exists():
        yield folder, kind
        return
    kind = _series_kind(folder) or kind
    if not depth:
        return
    for below in sorted(folder.iterdir()):
        if below.is_dir() and not below.is_symlink():
            yield from _runs(below, kind, depth - 1)


def _series_kind(folder: Path) -> str | None:
    from loadgen.sessions.series.series import SERIES

    try:
        return str(orjson.loads((folder / SERIES).read_bytes())["kind"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _listed(run: Path, top: Path, kind: str | None) -> Listed:
    name = str(run.relative_to(top))
    try:
        found = _of_report(name, orjson.loads((run / REPORT).read_bytes()), kind)
    except FileNotFoundError:
        found = _of_log(name, run, kind)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        found = Listed(name, kind=kind, why=f"{REPORT} cannot be read ({_in_short(error)})")
    return replace(found, state=RUNNING, why=None) if is_held(run) else found


def _of_report(name: str, report: Mapping[str, Any], kind: str | None) -> Listed:
    run, verdict = report["run"], report.get("verdict")
    validity = report["validity"]
    accepted = validity.get("accepted") is True
    valid = "valid" if validity["valid"] else ACCEPTED if accepted else "invalid"
    status = str(verdict["status"]) + f", {ACCEPTED}" * accepted if verdict else valid
    scores = [next(iter(one["headlines"].values()))["value"] for one in report.get("accuracy") or ()]
    return Listed(
        folder=name,
        started_at=run.get("started_at"),
        model=run.get("model"),
        kind=kind or ("accuracy" if scores else "performance"),
        load=_load(run.get("load") or {}),
        requests=report["counts"]["issued"],
        state=status,
        qps=report["throughput"]["qps"],
        ttft_p50_ms=(report.get("ttft_ms") or {}).get("p50"),
        score=scores[0] if scores else None,
    )


def _of_log(name: str, run: Path, kind: str | None) -> Listed:
    """A run without a report: the log says how it was begun."""
    from recorder.errors import LogError
    from reporter.log.settings import opening

    try:
        settings, _, started_ns = opening(run)
    except LogError as error:
        return Listed(name, kind=kind, why=_in_short(error))
    started = datetime.fromtimestamp(started_ns / 1e9, UTC).isoformat(timespec="milliseconds")
    load = _load(settings.get("load") or {})
    return Listed(name, started, settings.get("model"), kind, load, state="unreported")


def _load(load: Mapping[str, Any]) -> str:
    """A load in a word or two."""
    kind = str(load.get("kind") or "")
    if load.get("concurrency") is not None:
        return f"{kind} {load['concurrency']}"
    return f"{kind} {load['rate']:g}/s" if load.get("rate") else kind


def _in_short(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
