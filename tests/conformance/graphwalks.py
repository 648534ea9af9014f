"""GraphWalks: a table of answers with what five published programs make of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.tasks.graphwalks import nodes, precision_recall
from tests.conformance.agreement import Agreement
from workloads.answer import Answer
from workloads.catalog import workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEEDS: Final = ("oracle_small/graphwalks_cases.jsonl",)

_COLUMNS: Final = {
    "official": "card_be6cc6ec",
    "published_2025_04": "card_2025_04",
    "lm_eval": "lm_eval",
    "openbench": "openbench",
}


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a scorer, each against its own column; then rules that are not the official one."""
    lines = (data / NEEDS[0]).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    scorers = {scorer.name: scorer for scorer in workload("graphwalks").scorers}
    for name, column in _COLUMNS.items():
        scorer, wrong = scorers[name], []
        for row in rows:
            score = scorer.grade({"answer_nodes": row["gold"]}, Answer(row["response"]))
            if score.value != row[column]:
                wrong.append(f"{row['response']!r}: ours {score.value}, {row[column]}")
        yield Agreement(f"graphwalks/{name}", len(rows), len(rows) - len(wrong), wrong=tuple(wrong))
    for shortcut, rule in _SHORTCUTS.items():
        agree = sum(rule(row["response"], row["gold"]) == row["card_be6cc6ec"] for row in rows)
        yield Agreement(f"graphwalks, {shortcut}", len(rows), agree, shortcut=True)


def _jaccard(text: str, wanted: list[str]) -> float:
    answered, right = set(nodes(text) or ()), set(wanted)
    return len(answered & right) / len(answered | right) if answered | right else 1.0


def _anywhere(text: str, wanted: list[str]) -> float:
    precision, recall = precision_recall((node for node in wanted if node in text), wanted)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_SHORTCUTS: Final[dict[str, Callable[[str, list[str]], float]]] = {
    "Jaccard in place of F1": _jaccard,
    "nodes anywhere in the text": _anywhere,
}
