"""PinchBench: the JSON file of a run, `results/RUN_MODEL.json`.

pinchbench/skill at 0d59a408, `scripts/benchmark.py`, `scripts/lib_grading.py`, `scripts/lib_agent.py`. Each
entry of `tasks` is one attempt; has the grades of all attempts at its task, in their order. `grading` may be
the grade itself, and uploads (`scripts/lib_upload.py`) have the grade in the entry.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from loadgen.plugins.imports.results.fields import file_of, read_fields
from loadgen.plugins.imports.results.harness_results import (
    Attempt,
    HarnessResults,
    ResultFormat,
    unequal_note,
)
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields
    from loadgen.plugins.imports.results.harness_results import Ending

_FACTS: Final = ("run_id", "benchmark_version", "suite", "runs_per_task")
_USAGE: Final = ("cost_usd", "request_count", "cache_write_tokens")
_ENDINGS: Final[Mapping[str, Ending]] = {"timeout": "max_time"}


def read(path: Path) -> HarnessResults:
    """Read the file of a run."""
    run = read_fields(file_of(path, "the file of a run, RUN_MODEL.json"))
    grades_read: Counter[tuple[str, str]] = Counter()
    attempts = []
    for entry in run.list("tasks"):
        key = (entry.text("task_id"), entry.optional_text("thinking_level") or "")
        attempts.append(_attempt(entry, *key, grades_read[key]))
        grades_read[key] += 1
    if not attempts:
        raise run.error("tasks", "is empty")
    total = run.count("total_tasks")
    unended = run.flag("in_progress") and total is not None
    notes = [f"the run had not ended: {total:,} tasks were planned"] if unended else []
    written_at = _written(run)
    return HarnessResults(
        attempts=attempts,
        model=run.text("model"),
        facts={name: run.values[name] for name in _FACTS if run.values.get(name) is not None}
        | ({} if written_at is None else {"written_at": written_at.isoformat()}),
        groups=("category", "grading"),
        notes=[*notes, *unequal_note(attempts)],
    )


def _written(run: Fields) -> datetime | None:
    """When the file was written: seconds, or, where uploaded, a time in ISO 8601."""
    if isinstance(run.values.get("timestamp"), str):
        return run.moment("timestamp")
    ended = run.optional_number("timestamp")
    return None if ended is None else datetime.fromtimestamp(ended, UTC)


def _grade(entry: Fields, task_id: str, number: int) -> Fields:
    """The grade of one attempt, in any of the three forms."""
    grading = entry.members("grading")
    if grading is None and "score" in entry.values:
        return entry
    if grading is not None and "score" in grading.values and number == 0:
        return grading
    runs = list(grading.list("runs")) if grading else []
    if number >= len(runs):
        raise entry.error("grading.runs", f"has no grade of attempt {number + 1} at {task_id}")
    return runs[number]


def _attempt(entry: Fields, task_id: str, thinking: str, number: int) -> Attempt:
    grade = _grade(entry, task_id, number)
    highest = grade.number("max_score")
    if highest <= 0:
        raise grade.wrong("max_score", "more than 0", highest)
    status = entry.optional_text("status") or ("timeout" if entry.flag("timed_out") else "success")
    usage = entry.inside("usage")
    metrics = {"score": grade.number("score"), "max_score": highest}
    for name in _USAGE:
        if (figure := usage.optional_number(name)) is not None:
            metrics[name] = figure
    tags = {
        "grading": grade.optional_text("grading_type"),
        "category": entry.inside("frontmatter").optional_text("category"),
        "thinking": thinking,
    }
    turns = usage.count("request_count")
    return Attempt(
        task_id=f"{task_id}:{thinking}" if thinking else task_id,
        value=metrics["score"] / highest,
        ending=_ENDINGS.get(status, "completed"),
        failure=None if status == "success" else status,
        reason=grade.optional_text("notes") or (None if status == "success" else status),
        tags={name: tag for name, tag in tags.items() if tag},
        metrics=metrics | _breakdown(grade),
        turns=turns,
        duration_s=entry.optional_number("execution_time") or entry.optional_number("execution_time_seconds"),
        # Without a request there was no usage to count: the transcript is missing.
        input_tokens=usage.count("input_tokens") if turns else None,
        output_tokens=usage.count("output_tokens") if turns else None,
        cached_tokens=usage.count("cache_read_tokens") if turns else None,
    )


def _breakdown(grade: Fields) -> dict[str, float]:
    """The scores of single criteria."""
    criteria = grade.inside("breakdown")
    return {f"criterion.{name}": criteria.number(name) for name in criteria.values}


FORMAT: Final = ResultFormat(
    "pinchbench",
    "PinchBench: the file of a run, results/RUN_MODEL.json (benchmark.py)",
    "pinchbench/skill at 0d59a408, scripts/benchmark.py",
    read,
    (
        Headline("score", "avg(value)"),
        Headline("cost_usd", "sum(metrics['cost_usd'])", "number", "lower"),
    ),
)
