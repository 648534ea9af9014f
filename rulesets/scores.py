"""The scores of a report, under the names used in rules.

    accuracy.TASK                   the first figure of the benchmark's own scorer
    accuracy.TASK.FIGURE            another one; tokens_per_sample, truncated, refused, pass_at_3, pass_hat_3
    accuracy.TASK.SCORER[.FIGURE]   those of a scorer that is named

TASK is the benchmark, or the task as it was asked for, with `-` for what no name can have:
`mmlu_pro-shots-0`. A scorer that is not the benchmark's own never answers for it: it has to be named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from rulesets.errors import Unanswerable
from rulesets.evidence import Accuracy, ScoreInterval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNNAMEABLE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_OF_SAMPLES: Final = ("tokens_per_sample", "truncated", "refused")
_OF_ATTEMPTS: Final = ("pass_at", "pass_hat")
_JUDGE: Final = "have it judged: loadgen score RUN --judge-url URL --judge-model MODEL"
_RESCORE: Final = "have it scored: loadgen score RUN"

Plain = Mapping[str, Any]
"""An element of `accuracy` in report.json."""


def score(accuracy: Sequence[Plain], name: str) -> Accuracy | None:
    """A score by name, without `accuracy.`; None where the report lacks the score.

    Raises:
        Unanswerable: The name may mean several.
    """
    figures = _meant(list(_figures(accuracy)), name)
    if len(figures) > 1:
        others = ", ".join(sorted({figure.longest for figure in figures}))
        raise Unanswerable(
            f"{name} may be several scores of the run", f"name the one that is meant: {others}"
        )
    return figures[0].score if figures else None


def named(accuracy: Sequence[Plain]) -> dict[str, Accuracy]:
    """All scores of a report by unambiguous names, the shortest name of each score first."""
    figures = list(_figures(accuracy))
    return {
        name: entry.score
        for entry in figures
        for name in entry.names
        if name and _meant(figures, name) == [entry]
    }


def main(accuracy: Sequence[Plain]) -> list[str]:
    """The names of the main scores, one for each benchmark and scorer."""
    figures = list(_figures(accuracy))
    firsts = [entry for entry in figures if entry.is_first]
    return [
        name
        for entry in firsts
        if (name := next((name for name in entry.names if name and _meant(figures, name) == [entry]), None))
    ]


class Scores(Mapping[str, Accuracy]):
    """The scores of a report by name; an ambiguous name raises `Unanswerable`."""

    def __init__(self, accuracy: Sequence[Plain]) -> None:
        self._accuracy = accuracy
        self._named = named(accuracy)

    def __getitem__(self, name: str) -> Accuracy:
        if name not in self._named:
            score(self._accuracy, name)
        return self._named[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


def _meant(figures: Sequence[_ScoreFigure], name: str) -> list[_ScoreFigure]:
    """The figures that a name may mean: those whose names start with the name."""
    places = [(entry.names.index(name), entry) for entry in figures if name in entry.names]
    first = min((place for place, _ in places), default=0)
    return [entry for place, entry in places if place == first]


@dataclass(frozen=True, slots=True)
class _ScoreFigure:
    """A figure of a scorer.

    Attributes:
        names: Its names by precedence: an earlier one goes before a later one of another figure. None
            keeps the place of a name that it does not have.
        score: The score.
        is_first: Whether it is the first figure of its scorer.
    """

    names: tuple[str | None, ...]
    score: Accuracy
    is_first: bool

    @property
    def longest(self) -> str:
        """The full name, which is unambiguous."""
        return next(name for name in reversed(self.names) if name)


def _figures(accuracy: Sequence[Plain]) -> Iterator[_ScoreFigure]:
    for scorer_score in accuracy:
        tasks = (str(scorer_score["name"]), _UNNAMEABLE.sub("-", scorer_score["task"]))
        scorer = _UNNAMEABLE.sub("-", scorer_score["scorer"] or "")
        is_official = scorer_score["official"] is not False
        for place, (figure, score_of_figure) in enumerate(_scores(scorer_score)):
            first = place == 0
            yield _ScoreFigure(
                (
                    *(task if first and is_official else None for task in tasks),
                    *(f"{task}.{figure}" if is_official else None for task in tasks),
                    *(f"{task}.{scorer}" if first and scorer else None for task in tasks),
                    *(f"{task}.{scorer}.{figure}" if scorer else None for task in tasks),
                ),
                score_of_figure,
                first,
            )


def _scores(scorer_score: Plain) -> Iterator[tuple[str, Accuracy]]:
    """The figures of a scorer by name, the first one first."""
    issued, unscored = int(scorer_score["issued"]), int(scorer_score["unscored"])
    remedy = (_JUDGE if scorer_score["judge_pending"] else _RESCORE) if unscored else ""
    for name, figure in scorer_score["headlines"].items():
        yield (
            name,
            Accuracy(
                figure["value"],
                figure["n"] or issued,
                figure["standard_error"],
                _effective(figure, scorer_score["repeats"]),
                unscored,
                figure["best"],
                remedy,
                scorer_score["repeats"],
                task=str(scorer_score["task"]),
                figure=name,
                own=scorer_score["official"] is not False,
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
                *(scorer_score[name], issued),
                effective=0 if is_length else None,
                headline=False,
                unit="number" if is_length else "share",
            ),
        )
    for name in _OF_ATTEMPTS:
        for k, value in scorer_score[name].items():
            score_of_attempts = Accuracy(
                value, issued, effective=0, unscored=unscored, remedy=remedy, headline=False
            )
            yield f"{name}_{k}", score_of_attempts


def _interval(interval: Plain | None) -> ScoreInterval | None:
    return ScoreInterval(**interval) if interval else None


def _effective(figure: Plain, repeats: int) -> int | None:
    if figure["n"] is None:
        return 0
    effective: int | None = figure["effective"]
    return effective if repeats > 1 else None
