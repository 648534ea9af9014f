"""`loadgen import`: results of another program's benchmark run, written as an ordinary log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from loadgen.plugins.imports.load_log import import_load, record
from loadgen.plugins.imports.result_events import Imported, run_events, scoring_events, task_of
from loadgen.plugins.imports.results.harness_results import ResultFormat, require_storable
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import new_run_folder
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.errors import TaskError, did_you_mean
from workloads.registry import entries, load, unusable

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.imports.loads.load_results import LoadFormat


def format_called(name: str) -> ResultFormat | LoadFormat:
    """The format of a name, or raise `TaskError`; `PluginError` for an unusable one of another package."""
    formats = entries("imports")
    if name not in formats:
        raise TaskError(
            f"{name}: no format of results has this name{did_you_mean(name, formats)}; "
            "`loadgen list formats` has them all"
        )
    chosen: ResultFormat | LoadFormat = load(formats[name])
    if chosen.name != name:
        raise unusable(formats[name], f"its name is {chosen.name!r}")
    return chosen


def import_results(
    name: str, path: Path, out: Path | None = None, model: str | None = None, number: int | None = None
) -> Path:
    """Read the results of a harness or a load generator, and write them as a log; return the run's folder.

    `number` is the run of a load generator's file with several, from 1.

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
        record(recorder, run_events(imported, recorder.session))
    with EventRecorder(path=log, environment=about | {"kind": "scoring"}, resume=True) as recorder:
        record(recorder, scoring_events(imported, recorder.session))
    return folder


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
