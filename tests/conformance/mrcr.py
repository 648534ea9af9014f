"""MRCR: a table of answers with the card's score, and with what two small changes would make of it."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.tasks.mrcr import grade
from tests.conformance.agreement import Agreement
from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Row = Mapping[str, Any]

NEEDS: Final = ("oracle_small/mrcr_cases.jsonl",)


def agreements(data: Path) -> Iterator[Agreement]:
    """The scorer, and rules that are not the official one."""
    lines = (data / NEEDS[0]).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    wrong = []
    for number, row in enumerate(rows):
        ours = grade(row, Answer(row["response"])).value
        if ours != row["score"]:
            wrong.append(f"row {number}: ours {ours}, {row['score']}")
    yield Agreement("mrcr/official", len(rows), len(rows) - len(wrong), wrong=tuple(wrong))
    for shortcut, rule in _SHORTCUTS.items():
        agree = sum(rule(row, *_without_random_text(row)) == row["score"] for row in rows)
        yield Agreement(f"mrcr, {shortcut}", len(rows), agree, shortcut=True)


def _without_random_text(row: Row) -> tuple[str, str]:
    """The answer and the right one, without the random text."""
    first = row["random_string_to_prepend"]
    return row["response"].removeprefix(first), row["answer"].removeprefix(first)


def _if_begun(row: Row, ratio: float) -> float:
    return ratio if row["response"].startswith(row["random_string_to_prepend"]) else 0.0


_SHORTCUTS: Final[Mapping[str, Callable[[Row, str, str], float]]] = {
    "the right answer first": lambda row, answer, wanted: _if_begun(
        row, SequenceMatcher(None, wanted, answer).ratio()
    ),
    "frequent letters count": lambda row, answer, wanted: _if_begun(
        row, SequenceMatcher(None, answer, wanted, autojunk=False).ratio()
    ),
    "the same text": lambda row, answer, wanted: _if_begun(row, float(answer == wanted)),
    "contains the right answer": lambda row, answer, wanted: _if_begun(row, float(wanted in answer)),
}
