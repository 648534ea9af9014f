"""Terminal-Bench 1: `results.json` of a run, or of each trial.

terminal-bench 0.2.18, `harness/models.py`, `handlers/trial_handler.py`. A run that was cut off has only the
files of its trials, `TASK/TRIAL/results.json`, which the harness itself resumes from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.imports.results.fields import read_fields, require_there, seconds_between
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.errors import SourceError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields
    from loadgen.plugins.imports.results.harness_results import Ending

_RESULTS: Final = "results.json"
_FACTS: Final = (
    *("run_id", "agent_name", "dataset_name", "dataset_version", "dataset_path", "n_attempts"),
    *("commit_hash", "start_time", "end_time"),
)
_ENDINGS: Final[Mapping[str, Ending]] = {
    "agent_timeout": "max_time",
    "context_length_exceeded": "max_tokens",
    "output_length_exceeded": "max_tokens",
    "unknown_agent_error": "failed",
    "agent_installation_failed": "failed",
}
"""By failure mode; other trials ended in order, or their tests did not."""

_UNREAD: Final = frozenset({"parse_error", "test_timeout"})
"""Failure modes in which the tests gave no verdict."""

_NO_FAILURE: Final = frozenset({"none", "unset"})

_BASELINE: Final = (
    "avg(value) FILTER (status <> 'missing' AND coalesce(input_tokens, 0) + coalesce(output_tokens, 0) > 0)"
)
"""OpenJarvis at 620f20cc leaves out trials whose agent failed or used no token."""


def read(path: Path) -> HarnessResults:
    """Read a run's folder, a results.json, or a trial's."""
    require_there(path)
    folder = path if path.is_dir() else path.parent
    trials, notes = _trials(path, folder)
    about = folder / "run_metadata.json"
    metadata = read_fields(about).values if about.is_file() else {}
    model = metadata.get("model_name")
    return HarnessResults(
        attempts=[_attempt(trial) for trial in trials],
        model=model if isinstance(model, str) else None,
        facts={name: metadata[name] for name in _FACTS if metadata.get(name) is not None},
        notes=notes,
    )


def _trials(path: Path, folder: Path) -> tuple[Sequence[Fields], list[str]]:
    file = path if path.is_file() else folder / _RESULTS
    if file.is_file():
        content = read_fields(file)
        if "results" in content.values:
            return list(content.list("results")), []
        if "task_id" in content.values:
            return [content], []
        raise content.error("results", "is missing: not a results.json of Terminal-Bench")
    files = sorted(folder.glob(f"*/*/{_RESULTS}"))
    if not files:
        raise SourceError(
            f"{folder} is not a run of Terminal-Bench: neither {_RESULTS} nor TASK/TRIAL/{_RESULTS}"
        )
    note = f"the run has no {_RESULTS}: these are its {len(files):,} trials that have one"
    return [read_fields(trial) for trial in files], [note]


def _attempt(trial: Fields) -> Attempt:
    resolved, mode = trial.flag("is_resolved"), trial.optional_text("failure_mode") or "unset"
    started, ended = trial.moment("trial_started_at"), trial.moment("trial_ended_at")
    agent_s = seconds_between(trial.moment("agent_started_at"), trial.moment("agent_ended_at"))
    test_s = seconds_between(trial.moment("test_started_at"), trial.moment("test_ended_at"))
    tests = trial.members("parser_results")
    statuses = list(tests.values.values()) if tests else []
    figures = {
        "agent_s": agent_s,
        "test_s": test_s,
        "tests": float(len(statuses)) if tests else None,
        "tests_passed": float(statuses.count("passed")) if tests else None,
    }
    return Attempt(
        task_id=trial.text("task_id"),
        value=float(resolved or False),
        # An agent that ran out of time, say, may have solved the task all the same.
        ending="completed" if resolved else _ENDINGS.get(mode, "completed"),
        failure=None if mode in _NO_FAILURE else mode,
        is_parsed=bool(resolved) or mode not in _UNREAD,
        reason=None if mode in _NO_FAILURE else mode.replace("_", " "),
        metrics={name: figure for name, figure in figures.items() if figure is not None},
        details={"trial": trial.text("trial_name")},
        prompt=trial.optional_text("instruction"),
        started=started,
        duration_s=seconds_between(started, ended),
        input_tokens=trial.count("total_input_tokens"),
        output_tokens=trial.count("total_output_tokens"),
    )


FORMAT: Final = ResultFormat(
    "terminalbench-native",
    "Terminal-Bench 1: a run's folder or results.json (tb run)",
    "terminal-bench 0.2.18, harness/models.py",
    read,
    (Headline("accuracy"), Headline("baseline", _BASELINE)),
    preset="terminal-bench",
)
