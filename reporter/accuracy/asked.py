"""What a run asked of benchmarks, and which scoring passes are to be told of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.errors import OptionError
from reporter.kinds import document, members, number, text, texts, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

_KEY: Final = "accuracy"

_PASSES: Final = """
    SELECT
        pass,
        task,
        scorer,
        version,
        coalesce(definition, ''),
        coalesce(judge, ''),
        ended,
        coalesce(options::VARCHAR, '{}'),
        started_ns < coalesce(issued_ns, 0)
    FROM passes
    LEFT JOIN (
        SELECT task, max(issued_ns) AS issued_ns FROM questions JOIN asked USING (prompt_id) GROUP BY task
    ) USING (task)
    ORDER BY pass, task, scorer"""


@dataclass(frozen=True, slots=True)
class Asked:
    """One task of a run.

    Attributes:
        task: As it was asked for, with its options.
        name: The benchmark.
        options: Of it.
        groups: The tags that scores are told apart by.
        count: How many questions there are to be asked; None where the log does not say.
        rows: How many rows its data had; None where not all of them were read.
        published: How many rows its data has where it is published; None where that is not known.
        pass_threshold: From which value on an attempt passes.
    """

    task: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    count: int | None = None
    rows: int | None = None
    published: int | None = None
    pass_threshold: float = 1.0


@dataclass(frozen=True, slots=True)
class Pass:
    """One scorer of one scoring pass.

    Attributes:
        number: Of the pass, from 1.
        task: What it scored.
        scorer: Its name.
        version: Of the scorer.
        definition: Where that is from.
        judge: The prompts of its judge, and the judge that is official; empty where none is needed.
        ended: `completed`, or how the pass was cut short.
        options: What was said about the pass.
        outdated: Whether answers were asked for after it began, as the run was resumed.
    """

    number: int
    task: str
    scorer: str
    version: int | None
    definition: str
    judge: str
    ended: str
    options: Mapping[str, Any] = field(default_factory=dict)
    outdated: bool = False

    @property
    def judge_model(self) -> str | None:
        """The model whose word counts; None where none is needed, or whichever answered last."""
        return text(members(self.options.get("judge")).get("model")) if self.judge else None


def of_benchmarks(settings: Mapping[str, Any]) -> bool:
    """Whether the questions of a run are those of benchmarks, by the settings that its log opens with."""
    return bool(members(settings.get(_KEY)).get("tasks"))


def asked(settings: Mapping[str, Any]) -> list[Asked]:
    """The tasks of a run, in the order in which they were named."""
    told = members(settings.get(_KEY))
    threshold = number(told.get("pass_threshold"))
    tasks = told.get("tasks")
    known = [members(one) for one in tasks] if isinstance(tasks, list) else []
    return [
        Asked(
            task=str(one.get("task")),
            name=text(one.get("name")) or str(one.get("task")).partition(":")[0],
            options=members(one.get("options")),
            groups=tuple(texts(one.get("groups"))),
            count=whole(one.get("count")),
            rows=whole(one.get("rows")),
            published=whole(one.get("published")),
            pass_threshold=1.0 if threshold is None else threshold,
        )
        for one in known
    ]


def passes(connection: DuckDBPyConnection, wanted: int | None = None) -> list[Pass]:
    """What is to be told of: one scoring pass, or of every scorer the last pass that has been finished.

    Where none of a scorer has been, its last one.

    Args:
        connection: An opened log with the view `scores`.
        wanted: The number of the only pass that is wanted.

    Raises:
        OptionError: There is no such pass.
    """
    found = [
        Pass(which, task, scorer, version, source, judge, ended, members(document(options)), outdated)
        for which, task, scorer, version, source, judge, ended, options, outdated in connection.execute(
            _PASSES
        ).fetchall()
    ]
    if wanted is not None:
        return _of(found, wanted)
    latest: dict[tuple[str, str], Pass] = {}
    for one in sorted(found, key=lambda one: (one.ended == "completed", one.number)):
        latest[one.task, one.scorer] = one
    return sorted(latest.values(), key=lambda one: one.number)


def _of(found: Sequence[Pass], wanted: int) -> list[Pass]:
    numbers = sorted({one.number for one in found})
    if wanted not in numbers:
        there = f"there are {', '.join(map(str, numbers))}" if numbers else "its answers were not scored yet"
        raise OptionError(f"the run has no scoring pass {wanted}: {there}")
    return [one for one in found if one.number == wanted]
