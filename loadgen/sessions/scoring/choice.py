"""The scorers of tasks: as given, as the run was started with, or each task's official one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from workloads.catalog import canonical
from workloads.errors import TaskError, did_you_mean
from workloads.evals import eval_scorer
from workloads.own_data import is_own
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.settings.scoring_choices import ScoringChoices
    from workloads.scorer import Scorer

_EVAL: Final = ":"
"""The mark of an eval function's name, `module:function`; no scorer of a benchmark has it."""

_OFFICIAL: Final = "official"
"""The name of the scorer that the publisher of a benchmark defines."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scorer of a task."""

    task: str
    scorer: Scorer
    official: bool

    @property
    def key(self) -> str:
        """The judge's name in logged calls."""
        return f"{self.task}/{self.scorer.name}"

    def facts(self) -> dict[str, Any]:
        """The facts for the log."""
        return {
            "task": self.task,
            "scorer": self.scorer.name,
            "version": self.scorer.version,
            "definition": self.scorer.definition,
            "judge": self.scorer.judge,
            "official": self.official,
        }


def choose(
    tasks: Sequence[str], options: ScoringChoices, started_with: Mapping[str, Any] | None = None
) -> list[Chosen]:
    """Choose the scorers of tasks."""
    stored = started_with or {}
    named = {**_stored_scorers(stored.get("scorers")), **_named(options.scorers, tasks)}
    evals = options.evals or tuple(name for name in stored.get("evals") or () if isinstance(name, str))
    chosen = []
    for task in tasks:
        chosen += _of_task(task, named.get(task), evals)
    for entry in chosen:
        if entry.scorer.runs_code and not options.allow_code_execution:
            raise TaskError(
                f"{entry.task}: the scorer {entry.scorer.name} runs programs that the model wrote; allow "
                "that with --allow-code-execution, on a machine without secrets"
            )
    return chosen


def scorer_named(task: str, name: str) -> Scorer:
    """A scorer by name, possibly the name of an eval function."""
    if _EVAL in name:
        return _eval(name)
    scorers = {scorer.name: scorer for scorer in _scorers(task)}
    if name not in scorers:
        raise TaskError(
            f"{task}: no scorer {name!r}{did_you_mean(name, scorers)}; choose from "
            f"{', '.join(scorers) or 'none'}"
        )
    return scorers[name]


def _of_task(task: str, name: str | None, evals: Sequence[str]) -> list[Chosen]:
    own = _scorers(task)
    chosen = []
    if name is not None:
        chosen.append(Chosen(task, scorer_named(task, name), official=name == _OFFICIAL))
    elif own and not (evals and is_own(task)):
        chosen.append(Chosen(task, own[0], official=own[0].name == _OFFICIAL))
    chosen += [Chosen(task, _eval(function), official=False) for function in evals]
    if not chosen:
        raise TaskError(f"{task}: nothing says what a right answer is: give --eval MODULE:FUNCTION")
    return chosen


def _eval(name: str) -> Scorer:
    return eval_scorer(name)


def _scorers(task: str) -> tuple[Scorer, ...]:
    return parse(task).workload.scorers


def _stored_scorers(value: Any) -> dict[str, str]:
    """The scorers chosen at the start of a run, by task."""
    there = value if isinstance(value, dict) else {}
    return {task: name for task, name in there.items() if isinstance(name, str) and name}


def _named(texts: Iterable[str], tasks: Sequence[str]) -> dict[str, str]:
    """The scorer of each task by `--scorer`; an option that names the task goes first."""
    everywhere: dict[str, str] = {}
    one_task: dict[str, str] = {}
    task_names = {name for task in tasks for name in _names(task)}
    for text in texts:
        about, equals, name = text.rpartition("=")
        about = canonical(about)
        if equals and not {about, _base(about)} & task_names:
            raise TaskError(
                f"--scorer {text}: no such task in the run: {about!r}{did_you_mean(about, task_names)}; "
                f"choose from {', '.join(tasks)}"
            )
        meant = [task for task in tasks if about in _names(task)] if equals else _having(name, tasks)
        if not meant:
            every = sorted({scorer.name for task in tasks for scorer in _scorers(task)})
            raise TaskError(
                f"--scorer {text}: no task of this run has it{did_you_mean(name, every)}; "
                f"there are {', '.join(every)}"
            )
        (one_task if equals else everywhere).update(dict.fromkeys(meant, name))
    return {**everywhere, **one_task}


def _having(name: str, tasks: Iterable[str]) -> list[str]:
    return [task for task in tasks if any(scorer.name == name for scorer in _scorers(task))]


def _names(task: str) -> set[str]:
    """The names of a task for `--scorer`: as given, without options, and for a file the name in rules."""
    return {task, _base(task), parse(task).workload.name}


def _base(task: str) -> str:
    return task.partition(":")[0]
