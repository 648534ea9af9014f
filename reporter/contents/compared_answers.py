"""Questions of two runs: answers that only one run had right, and a sample of the other answers."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final
from zlib import crc32

from lazy_dataclasses import dataclass
from reporter.contents import scored
from reporter.stored_answers import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reporter.contents.scored import ScoredSample
    from reporter.log.database import OpenLog
    from reporter.report import Report

LOST: Final = "lost"
WON: Final = "won"
_CHANGES: Final = {
    (True, False): LOST,
    (False, True): WON,
    (False, False): "both wrong",
    (True, True): "both right",
}
MOST_ANSWERS: Final = {LOST: 40, WON: 40, "both wrong": 20, "both right": 10}
"""The most answers of all benchmarks together, by change."""


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """The answers of two runs to a question, and how the second one changed."""

    change: str
    sides: tuple[ScoredSample, ScoredSample]


@dataclass(frozen=True, slots=True)
class ComparedAnswers:
    """Some of the questions that both runs were asked.

    Attributes:
        counts: How many questions changed in which way, over all.
    """

    answers: tuple[ComparedAnswer, ...]
    counts: Mapping[str, int]


def compared_answers(runs: Sequence[tuple[OpenLog, Report]]) -> ComparedAnswers | None:
    """The answers of two runs; None where no benchmark was asked in both.

    Raises:
        LogError: A log is damaged.
    """
    with ExitStack() as stack:
        sides = []
        for log, report in runs:
            log.load(scored.TABLES)
            sides.append((log, scored.first_scores(report.accuracy), stack.enter_context(texts_of(log.run))))
        (_, first, _), (_, second, _) = sides
        tasks = [task for task in first if task in second]
        counts: Counter[str] = Counter()
        answers: list[ComparedAnswer] = []
        for task in tasks:
            before, after = (scored.outcomes(log, scores[task]) for log, scores, _ in sides)
            changes = {
                key: _CHANGES[before[key][1] == scored.CORRECT, after[key][1] == scored.CORRECT]
                for key in before
                if key in after
            }
            counts.update(changes.values())
            chosen = _chosen(changes, len(tasks))
            of_sides = [
                scored.chosen_samples(log, scores[task], read, [outcomes[key][0] for key in chosen])
                for (log, scores, read), outcomes in zip(sides, (before, after), strict=True)
            ]
            answers += [
                ComparedAnswer(changes[key], (of_sides[0][before[key][0]], of_sides[1][after[key][0]]))
                for key in chosen
            ]
    return ComparedAnswers(tuple(answers), counts) if counts else None


def _chosen(changes: Mapping[scored.Asked, str], tasks: int) -> list[scored.Asked]:
    """Questions of each kind of change, drawn evenly."""

    def of_kind(change: str) -> Iterable[scored.Asked]:
        drawn = sorted(
            (key for key, changed in changes.items() if changed == change),
            key=lambda key: crc32(key[0].encode()),
        )
        return drawn[: max(MOST_ANSWERS[change] // tasks, 1)]

    return [key for change in MOST_ANSWERS for key in of_kind(change)]
