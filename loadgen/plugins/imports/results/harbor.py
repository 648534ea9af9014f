"""Harbor, and Terminal-Bench 2: `result.json` of each trial of a job, and the verifier's files.

harbor 0.25.0, `models/trial/result.py`, `models/trial/paths.py`, `metrics/base.py`: a missing reward is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.harbor_reward import JSON_FILE, TEXT_FILE, leaderboard_accuracy, rewards_in
from loadgen.plugins.imports.results.fields import read_fields, require_there, seconds_between
from loadgen.plugins.imports.results.harness_results import (
    Attempt,
    HarnessResults,
    ResultFormat,
    unequal_note,
    values_by_task,
)
from workloads.errors import MalformedError, SourceError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields

_RESULT: Final = "result.json"
_VERIFIER: Final = "verifier"
_REWARD: Final = "reward"
_TIMEOUT: Final = "AgentTimeoutError"
_FIGURES: Final = ("n_input_tokens", "n_output_tokens", "n_cache_tokens", "cost_usd")


def read(path: Path) -> HarnessResults:
    """Read a job's folder, a trial's folder, or the result.json of either."""
    require_there(path)
    folder = path if path.is_dir() else path.parent
    trials, notes = _trials(folder)
    attempts = [_attempt(trial) if (trial / _RESULT).is_file() else _rewarded(trial) for trial in trials]
    first = next((trial / _RESULT for trial in trials if (trial / _RESULT).is_file()), None)
    model, facts = (None, {}) if first is None else _about(read_fields(first))
    return HarnessResults(
        attempts=attempts, model=model, facts=facts, notes=[*notes, *_leaderboard(attempts)]
    )


def _trials(folder: Path) -> tuple[Sequence[Path], list[str]]:
    """The folders of trials, a single one or those of a job, and notes on other folders."""
    own = folder / _RESULT
    if own.is_file() and "task_name" in read_fields(own).values:
        return [folder], []
    folders = sorted(entry for entry in folder.iterdir() if entry.is_dir())
    whole = [trial for trial in folders if (trial / _RESULT).is_file()]
    rewarded = [trial for trial in folders if trial not in whole and _has_reward(trial)]
    unended = [
        trial for trial in folders if trial not in (*whole, *rewarded) and (trial / "config.json").is_file()
    ]
    if not whole and not rewarded:
        raise SourceError(
            f"{folder} is not a job of Harbor: no folder in it has a {_RESULT}, or a {_VERIFIER}/{TEXT_FILE}"
        )
    notes = [f"{len(rewarded):,} trials have no {_RESULT}, only a file with a reward"] * bool(rewarded)
    notes += [f"{len(unended):,} trials had not ended, and are left out"] * bool(unended)
    return sorted((*whole, *rewarded)), notes


def _has_reward(trial: Path) -> bool:
    return any((trial / _VERIFIER / name).is_file() for name in (JSON_FILE, TEXT_FILE))


def _rewarded(trial: Path) -> Attempt:
    """A trial with only the verifier's file; the folder is named `TASK__SUFFIX`."""
    try:
        rewards = rewards_in(trial / _VERIFIER) or {}
    except MalformedError as error:
        raise MalformedError(f"{trial / _VERIFIER}: {error}") from error
    return Attempt(
        task_id=trial.name.rpartition("__")[0] or trial.name,
        value=_counted(rewards, trial / _VERIFIER),
        metrics=_others(rewards),
        details={"trial": trial.name},
    )


def _attempt(folder: Path) -> Attempt:
    trial = read_fields(folder / _RESULT)
    written = trial.inside("verifier_result").inside("rewards")
    rewards = {name: written.number(name) for name in written.values}
    failure = _exception(trial)
    started, ended = trial.moment("started_at"), trial.moment("finished_at")
    totals = _totals(trial)
    figures = {
        "cost_usd": totals["cost_usd"],
        "agent_s": _phase_s(trial, "agent_execution"),
        "verifier_s": _phase_s(trial, "verifier"),
    }
    return Attempt(
        task_id=trial.text("task_name"),
        value=_counted(rewards, folder / _RESULT),
        ending="max_time" if failure and failure[0] == _TIMEOUT else "completed" if rewards else "failed",
        failure=failure[0] if failure else None if rewards else "no_reward",
        reason=": ".join(filter(None, failure)) if failure else None if rewards else "no reward",
        part=trial.optional_text("source") or "",
        metrics=_others(rewards) | {name: value for name, value in figures.items() if value is not None},
        details={"trial": trial.text("trial_name")},
        started=started,
        duration_s=seconds_between(started, ended),
        input_tokens=_whole(totals["n_input_tokens"]),
        output_tokens=_whole(totals["n_output_tokens"]),
        cached_tokens=_whole(totals["n_cache_tokens"]),
    )


def _counted(rewards: Mapping[str, float], place: Path) -> float:
    """The reward that counts: `reward`, or the only one."""
    if _REWARD in rewards or not rewards:
        return rewards.get(_REWARD, 0.0)
    if len(rewards) > 1:
        raise MalformedError(f"{place}: none of the rewards {', '.join(sorted(rewards))} is named {_REWARD}")
    return next(iter(rewards.values()))


def _others(rewards: Mapping[str, float]) -> dict[str, float]:
    return {f"reward.{name}": value for name, value in rewards.items()} if len(rewards) > 1 else {}


def _exception(trial: Fields) -> tuple[str, str] | None:
    """The trial's exception, or that of the first failed step."""
    for place in (trial, *_steps(trial)):
        if (info := place.members("exception_info")) is not None:
            return info.text("exception_type"), info.optional_text("exception_message") or ""
    return None


def _steps(trial: Fields) -> Sequence[Fields]:
    return list(trial.list("step_results")) if trial.values.get("step_results") else []


def _totals(trial: Fields) -> dict[str, float | None]:
    """Tokens and cost of the agent, or the sums over steps; None for absent values."""
    own = trial.members("agent_result")
    steps = [step.members("agent_result") for step in _steps(trial)]
    contexts = [context for context in ([own] if own else steps) if context is not None]
    totals: dict[str, float | None] = {}
    for name in _FIGURES:
        figures = [figure for context in contexts if (figure := context.optional_number(name)) is not None]
        totals[name] = math.fsum(figures) if figures else None
    return totals


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _phase_s(trial: Fields, phase: str) -> float | None:
    timing = trial.inside(phase)
    return seconds_between(timing.moment("started_at"), timing.moment("finished_at"))


def _about(trial: Fields) -> tuple[str | None, Mapping[str, Any]]:
    """The model and the agent, which are those of the job."""
    agent = trial.inside("agent_info")
    model = agent.members("model_info")
    names = [model.optional_text("provider"), model.text("name")] if model else []
    facts = {"agent": agent.optional_text("name"), "agent_version": agent.optional_text("version")}
    return "/".join(filter(None, names)) or None, {key: value for key, value in facts.items() if value}


def _leaderboard(attempts: Sequence[Attempt]) -> Iterator[str]:
    """The figures of Terminal-Bench 2's leaderboard, defined for rewards of 0 to 1."""
    yield from unequal_note(attempts)
    if not all(0 <= attempt.value <= 1 for attempt in attempts):
        return
    by_task = {"/".join(task): values for task, values in values_by_task(attempts).items()}
    figures = leaderboard_accuracy(by_task)
    if figures.standard_error is not None:
        yield (
            f"by the rule of Terminal-Bench 2's leaderboard {figures.mean:.4f} with a standard error of "
            f"{figures.standard_error:.4f}, over {figures.tasks:,} tasks with {figures.attempts:,} attempts"
        )


FORMAT: Final = ResultFormat(
    "harbor",
    "Harbor and Terminal-Bench 2: a job's or a trial's folder (harbor run)",
    "harbor 0.25.0, metrics/base.py",
    read,
    (Headline("accuracy"), Headline("cost_usd", "sum(metrics['cost_usd'])", "number", "lower")),
    preset="harbor",
)
