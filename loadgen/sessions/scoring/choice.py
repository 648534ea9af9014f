"""Which scorers judge which tasks: as was said, as the run was started, or each task's official one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from workloads.catalog import canonical
from workloads.errors import TaskError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.scoring.options import ScoringOptions
    from workloads.scorer import Scorer

_EVAL: Final = ":"
"""An eval function has it in its name, `module:function`, and no scorer of a benchmark has."""

_OFFICIAL: Final = "official"
"""What the definition of whoever published a benchmark is called."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A scorer of a task.

    Attributes:
        task: The task as the user named it.
        scorer: How its answers are judged.
        official: Whether that is the benchmark's own definition.
    """

    task: str
    scorer: Scorer
    official: bool

    @property
    def key(self) -> str:
        """What the log calls it where a judge was asked."""
        return f"{self.task}/{self.scorer.name}"

    def told(self) -> dict[str, Any]:
        """What the log keeps of it."""
        return {
            "task": self.task,
            "scorer": self.scorer.name,
            "version": self.scorer.version,
            "definition": self.scorer.definition,
            "judge": self.scorer.judge,
            "official": self.official,
        }


def choose(
    tasks: Sequence[str], options: ScoringOptions, started_with: Mapping[str, Any] | None = None
) -> list[Chosen]:
    """Choose the scorers of tasks.

    Args:
        tasks: As the user named them, those of the log.
        options: What is asked for now.
        started_with: The member `accuracy` of the run's settings, if it has one.

    Raises:
        TaskError: There is no such task or scorer, nothing that could judge a task, or a scorer that would
            run what the model wrote, which was not allowed.
        EvalError, ExtraError: An eval function is none, or a package is missing.
    """
    known = started_with or {}
    named = {**_kept(known.get("scorers")), **_named(options.scorers, tasks)}
    evals = options.evals or tuple(one for one in known.get("evals") or () if isinstance(one, str))
    chosen = []
    for task in tasks:
        chosen += _of_task(task, named.get(task), evals)
    for one in chosen:
        if one.scorer.runs_code and not options.allow_code_execution:
            raise TaskError(
                f"{one.task}: the scorer {one.scorer.name} runs programs that the model wrote: allow it with "
                "--allow-code-execution, on a machine where that does no harm"
            )
    return chosen


def scorer_named(task: str, name: str) -> Scorer:
    """A scorer by its name, which may be that of an eval function.

    Raises:
        TaskError: The task has none of this name.
        EvalError, ExtraError: An eval function is none, or a package is missing.
    """
    if _EVAL in name:
        return _eval(name)
    known = {one.name: one for one in _scorers(task)}
    if name not in known:
        raise TaskError(
            f"{task}: no scorer {name!r}{did_you_mean(name, known)}; it has {', '.join(known) or 'none'}"
        )
    return known[name]


def _of_task(task: str, name: str | None, evals: Sequence[str]) -> list[Chosen]:
    from workloads.tasks.own import is_own

    own = _scorers(task)
    chosen = []
    if name is not None:
        chosen.append(Chosen(task, scorer_named(task, name), official=name == _OFFICIAL))
    elif own and not (evals and is_own(task)):
        chosen.append(Chosen(task, own[0], official=own[0].name == _OFFICIAL))
    chosen += [Chosen(task, _eval(one), official=False) for one in evals]
    if not chosen:
        raise TaskError(f"{task}: nothing says what a right answer is: give --eval MODULE:FUNCTION")
    return chosen


def _eval(name: str) -> Scorer:
    from workloads.evals import eval_scorer

    return eval_scorer(name)


def _scorers(task: str) -> tuple[Scorer, ...]:
    from workloads.task import parse

    return parse(task).workload.scorers


def _kept(value: Any) -> dict[str, str]:
    """The scorers that a run was started with, by their tasks."""
    there = value if isinstance(value, dict) else {}
    return {task: name for task, name in there.items() if isinstance(name, str) and name}


def _named(texts: Iterable[str], tasks: Sequence[str]) -> dict[str, str]:
    """Which scorer each task is to have, by what `--scorer` says; what names a task goes first."""
    everywhere: dict[str, str] = {}
    one_task: dict[str, str] = {}
    known = {name for task in tasks for name in _names(task)}
    for text in texts:
        about, equals, name = text.rpartition("=")
        about = canonical(about)
        if equals and not {about, _base(about)} & known:
            raise TaskError(
                f"--scorer {text}: this run asks nothing of {about!r}{did_you_mean(about, known)}; "
                f"it asks {', '.join(tasks)}"
            )
        meant = [task for task in tasks if about in _names(task)] if equals else _having(name, tasks)
        if not meant:
            every = sorted({one.name for task in tasks for one in _scorers(task)})
            raise TaskError(
                f"--scorer {text}: no task of this run has it{did_you_mean(name, every)}; "
                f"there are {', '.join(every)}"
            )
        (one_task if equals else everywhere).update(dict.fromkeys(meant, name))
    return {**everywhere, **one_task}


def _having(name: str, tasks: Iterable[str]) -> list[str]:
    return [task for task in tasks if any(one.name == name for one in _scorers(task))]


def _names(task: str) -> set[str]:
    """What `--scorer` may call a task: as it was asked, without its options, a file as rules call it."""
    from workloads.task import parse

    return {task, _base(task), parse(task).workload.name}


def _base(task: str) -> str:
    return task.partition(":")[0]
