"""A load generator's results as an ordinary log: its records of requests, or its own figures alone."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.load_events import events
from loadgen.plugins.imports.loads.objects import MOST_S
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import new_run_folder
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.imports.loads.load_results import LoadFormat, LoadResults

_PART: Final = 2000
"""Events that may wait to be written."""
_S: Final = 1_000_000_000
_LATEST_S: Final = 9 * 10**9
"""The latest start that fits nanoseconds of 64 bits: the year 2255."""


def import_load(
    chosen: LoadFormat, path: Path, out: Path | None, model: str | None, number: int | None
) -> Path:
    """Read one run of a load generator, and write it as a log; see `importing.log.import_results`.

    Raises:
        UsageError: The file has several runs and none was chosen, or has no run of that number.
    """
    results = _chosen_run(chosen, path, number)
    _require_possible(results, path)
    model = model or results.model
    folder = new_run_folder(out, model or chosen.name)
    recorder = EventRecorder(
        path=folder / LOG_NAME,
        settings=_settings(chosen, results, path, model),
        environment=environment() | {"timestamp_source": None},
    )
    if results.started is not None and 0 < results.started.timestamp() < _LATEST_S:
        # The run began then, on the clock of the log too: the report says when.
        started_ns = round(results.started.timestamp() * _S)
        recorder.session = replace(recorder.session, started_wall_ns=started_ns)
    with recorder:
        happened = sorted(events(chosen, results, recorder.session), key=attrgetter("at_ns"))
        for count, event in enumerate(happened, 1):
            recorder.record_event(event.type, event.at_ns, event.sample_uuid, data=event.data)
            if count % _PART == 0:
                recorder.wait_for_writes()
    return folder


def _chosen_run(chosen: LoadFormat, path: Path, number: int | None) -> LoadResults:
    runs = chosen.read(path)
    if number is None and len(runs) == 1:
        return runs[0]
    if number is None:
        listed = "; ".join(f"{position}: {_load(run)}" for position, run in enumerate(runs, 1))
        raise UsageError(f"{path} has {len(runs)} runs ({listed}); choose one with --result N")
    if not 1 <= number <= len(runs):
        raise UsageError(f"--result {number}: {path} has {len(runs)} runs, counted from 1")
    return runs[number - 1]


def _require_possible(results: LoadResults, path: Path) -> None:
    """Refuse times of years, which no clock of a log can hold.

    Raises:
        MalformedError: The file has one.
    """
    for number, request in enumerate(results.requests):
        times = (request.start_s, request.first_token_s, request.last_token_s, request.end_s)
        if not all(0 <= time <= MOST_S for time in times if time is not None):
            raise MalformedError(f"{path}: request {number} has a time below 0 or of years")
    if results.duration_s is not None and not 0 < results.duration_s <= MOST_S:
        raise MalformedError(f"{path}: the run lasts {results.duration_s:g} s, which cannot be")


def _load(run: LoadResults) -> str:
    return " ".join(str(value) for value in run.load.values()) or "unknown load"


def _settings(chosen: LoadFormat, results: LoadResults, path: Path, model: str | None) -> dict[str, Any]:
    of_figures = {} if results.requests else chosen.of_figures
    return {
        "model": model,
        "load": dict(results.load),
        "imported": {
            "format": chosen.name,
            "definition": chosen.definition,
            "path": str(path.absolute()),
            "measured": True,
            "starts": all(request.start_s is not None for request in results.requests),
            "requests": len(results.requests),
            "facts": dict(results.facts),
            "definitions": {**chosen.of_requests, **of_figures},
            "figures": dict(results.figures) or None,
        },
    }
