"""`loadgen import`: results of another program's benchmark run, written as an ordinary log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.result_events import Imported, run_events, scoring_events, task_of
from loadgen.plugins.imports.result_formats import format_called
from loadgen.plugins.imports.results.harness_results import ResultFormat, require_storable
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import new_run_folder
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recorder.event import Event

_PART: Final = 2000
"""Events that may wait to be written."""


def import_results(
    name: str, path: Path, out: Path | None = None, model: str | None = None, number: int | None = None
) -> Path:
    """Read the results of a harness or a load generator, and write them as a log.

    Args:
        name: The format, one of `loadgen list formats`.
        path: The file or the folder with the results.
        out: The folder of the run; `runs/<time>-<model>` without one.
        model: The model, where the results do not name it, or name it in another way.
        number: Which of a load generator's runs in one file, from 1.

    Returns:
        The folder of the run.

    Raises:
        TaskError: No format has this name.
        SourceError, MalformedError: The results are not there, or not of this format; with file and key.
        LogExistsError: The folder holds a run already.
        WriterError, LogNotMadeError: The log could not be written.
    """
    if model == "":
        raise UsageError("--model: the name is empty")
    chosen = format_called(name)
    if not isinstance(chosen, ResultFormat):
        from loadgen.plugins.imports.load_log import import_load

        return import_load(chosen, path, out, model, number)
    if number is not None:
        raise UsageError(f"--result: a file of {name} has one run; leave --result out")
    results = chosen.read(path)
    require_storable(path, results.attempts)
    imported = Imported.of(chosen, results)
    folder = new_run_folder(out, model or results.model or chosen.name)
    log, about = folder / LOG_NAME, environment() | {"timestamp_source": None}
    settings = _settings(imported, path, model or results.model)
    with EventRecorder(path=log, settings=settings, environment=about) as recorder:
        _record(recorder, run_events(imported, recorder.session))
    with EventRecorder(path=log, environment=about | {"kind": "scoring"}, resume=True) as recorder:
        _record(recorder, scoring_events(imported, recorder.session))
    return folder


def _record(recorder: EventRecorder, events: Iterator[Event]) -> None:
    for number, event in enumerate(events, 1):
        recorder.record_event(event.type, event.at_ns, event.sample_uuid, data=event.data)
        if number % _PART == 0:
            recorder.wait_for_writes()


def _settings(imported: Imported, path: Path, model: str | None) -> dict[str, Any]:
    chosen, results, prompts = imported.chosen, imported.results, imported.prompts
    attempts = Counter((attempt.part, attempt.task_id) for attempt in results.attempts)
    parts = Counter(part for part, _ in prompts)
    first = {part: number for (part, _), number in reversed(list(prompts.items()))}
    return {
        "model": model,
        "imported": {
            "format": chosen.name,
            "definition": chosen.definition,
            "path": str(path.absolute()),
            "attempts": len(results.attempts),
            "facts": {key: fact for key, fact in results.facts.items() if fact is not None},
        },
        "accuracy": {
            "tasks": [
                {
                    "task": task_of(chosen, part),
                    "name": chosen.name,
                    "options": {},
                    "first": first[part],
                    "count": count,
                    "groups": list(results.groups),
                    "notes": list(results.notes),
                }
                for part, count in parts.items()
            ],
            "repeats": max(attempts.values()),
            "pass_threshold": 1.0,
        },
    }
