"""The scores that a report has, by the names that rules call them.

    accuracy.TASK                   the first figure of the benchmark's own scorer
    accuracy.TASK.FIGURE            another one; tokens_per_sample, truncated, refused, pass_at_3, pass_hat_3
    accuracy.TASK.SCORER[.FIGURE]   those of a scorer that is named

TASK is the benchmark, or the task as it was asked for, with `-` for what no name can have:
`mmlu_pro-shots-0`. A scorer that is not the benchmark's own never answers for it: it has to be named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evidence import Accuracy, ScoreInterval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNNAMEABLE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_OF_SAMPLES: Final = ("tokens_per_sample", "truncated", "refused")
_OF_ATTEMPTS: Final = ("pass_at", "pass_hat")
_JUDGE: Final = "have it judged: loadgen score RUN --judge-url URL --judge-model MODEL"
_RESCORE: Final = "have it scored: loadgen score RUN"

Told = Mapping[str, Any]
"""An element of `accuracy` in report.json."""


def score(told: Sequence[Told], name: str) -> Accuracy | None:
    """A score by its name, without `accuracy.` before it; None where the report has none of it.

    Args:
        told: `accuracy` of the report.
        name: As rules call it.

    Raises:
        Unanswerable: The name may mean several.
    """
    found = _meant(list(_figures(told)), name)
    if len(found) > 1:
        others = ", ".join(sorted({one.longest for one in found}))
        raise Unanswerable(
            f"{name} may be several scores of the run", f"name the one that is meant: {others}"
        )
    return found[0].score if found else None


def named(told: Sequence[Told]) -> dict[str, Accuracy]:
    """All scores of a report by all names that mean one of them alone; of each the shortest name first."""
    figures = list(_figures(told))
    return {
        name: one.score for one in figures for name in one.names if name and _meant(figures, name) == [one]
    }


def main(told: Sequence[Told]) -> list[str]:
    """The names of the scores that benchmarks are known by, one for each benchmark and scorer.

    Args:
        told: `accuracy` of a report.
    """
    figures = list(_figures(told))
    firsts = [one for one in figures if one.is_first]
    return [
        name
        for one in firsts
        if (name := next((name for name in one.names if name and _meant(figures, name) == [one]), None))
    ]


class Scores(Mapping[str, Accuracy]):
    """The scores of a report by their names; one that may mean several raises `Unanswerable`.

    Args:
        told: `accuracy` of the report.
    """

    def __init__(self, told: Sequence[Told]) -> None:
        self._told = told
        self._named = named(told)

    def __getitem__(self, name: str) -> Accuracy:
        if name not in self._named:
            score(self._told, name)
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


def _meant(figures: Sequence[_ScoreFigure], name: str) -> list[_ScoreFigure]:
    """What a name may mean: the figures that come first with it."""
    places = [(one.names.index(name), one) for one in figures if name in one.names]
    first = min((place for place, _ in places), default=0)
    return [one for place, one in places if place == first]


@dataclass(frozen=True, slots=True)
class _ScoreFigure:
    """A figure of a scorer.

    Attributes:
        names: What it may be called; an earlier one goes before a later one of another figure. None keeps the
            place of what it is not called.
        score: It.
        is_first: Whether it is the first figure of its scorer.
    """

    names: tuple[str | None, ...]
    score: Accuracy
    is_first: bool

    @property
    def longest(self) -> str:
        """What tells it from most others."""
        return next(name for name in reversed(self.names) if name)


def _figures(told: Sequence[Told]) -> Iterator[_ScoreFigure]:
    for one in told:
        tasks = (str(one["name"]), _UNNAMEABLE.sub("-", one["task"]))
        scorer = _UNNAMEABLE.sub("-", one["scorer"] or "")
        its_own = one["official"] is not False
        for place, (figure, found) in enumerate(_scores(one)):
            first = place == 0
            yield _ScoreFigure(
                (
                    *(task if first and its_own else None for task in tasks),
                    *(f"{task}.{figure}" if its_own else None for task in tasks),
                    *(f"{task}.{scorer}" if first and scorer else None for task in tasks),
                    *(f"{task}.{scorer}.{figure}" if scorer else None for task in tasks),
                ),
                found,
                first,
            )


def _scores(one: Told) -> Iterator[tuple[str, Accuracy]]:
    """The figures of a scorer by name, the first one first."""
    issued, unscored = int(one["issued"]), int(one["unscored"])
    remedy = (_JUDGE if one["judge_pending"] else _RESCORE) if unscored else ""
    for name, figure in one["headlines"].items():
        yield (
            name,
            Accuracy(
                figure["value"],
                figure["n"] or issued,
                figure["standard_error"],
                _effective(figure, one["repeats"]),
                unscored,
                figure["best"],
                remedy,
                one["repeats"],
                task=str(one["task"]),
                figure=name,
                own=one["official"] is not False,
                unit=figure.get("unit", "share"),
                better=figure.get("better", "higher"),
                interval=_interval(figure.get("interval")),
            ),
        )
    for name in _OF_SAMPLES:
        is_length = name == "tokens_per_sample"
        yield (
            name,
            Accuracy(
                *(one[name], issued),
                effective=0 if is_length else None,
                headline=False,
                unit="number" if is_length else "share",
            ),
        )
    for name in _OF_ATTEMPTS:
        for k, value in one[name].items():
            beside = Accuracy(value, issued, effective=0, unscored=unscored, remedy=remedy, headline=False)
            yield f"{name}_{k}", beside


def _interval(told: Told | None) -> ScoreInterval | None:
    return ScoreInterval(**told) if told else None


def _effective(figure: Told, repeats: int) -> int | None:
    if figure["n"] is None:
        return 0
    effective: int | None = figure["effective"]
    return effective if repeats > 1 else None
