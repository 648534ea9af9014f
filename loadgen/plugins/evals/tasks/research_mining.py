"""Research mining: excerpts of studies for and against a claim, and a synthesis. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, graded_parts, judged, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, unparsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

MOST_WORDS: Final = 150

_SYSTEM: Final = prompt("research_mining", "system")

_CITATION: Final = re.compile(r"\[(S\d+(?:\s*[,;]\s*S\d+)*)\]")
_NAME: Final = re.compile(r"S\d+")
_FIGURES: Final = ("sources_right", "figure_right", "cited", "short")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One claim a question."""
    for index, row in enumerate(inputs.rows):
        excerpts = "\n".join(f"[S{number}] {text}" for number, text in enumerate(row["sources"], start=1))
        asked = f"Claim: {row['claim']}\n\n{excerpts}\n\nFigure: {row['asked']}"
        reference = {name: row[name] for name in ("supporting", "opposing", "figure", "digits", "criteria")}
        sample = Sample(index, asked, _SYSTEM, tags=difficulty(row))
        yield Question(row["id"], sample, {**reference, "asked": asked})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right if both lists and the figure are right, and a short synthesis cites the listed excerpts."""
    fields = json_in(answer.text, dict)
    if fields is None or not isinstance(fields.get("synthesis"), str) or not fields["synthesis"].strip():
        return unparsed("no JSON object with a synthesis", **dict.fromkeys(_FIGURES, 0.0))
    lists = [_names(fields.get(name)) for name in ("supporting", "opposing")]
    wanted = [set(reference[name]) for name in ("supporting", "opposing")]
    figure = fields.get("figure")
    words = len(fields["synthesis"].split())
    cited = {name for group in _CITATION.findall(fields["synthesis"]) for name in _NAME.findall(group)}
    right = {
        "sources_right": lists == wanted,
        "figure_right": _is(figure, reference),
        "cited": None not in lists and cited == set().union(*filter(None, lists)) != set(),
        "short": words <= MOST_WORDS,
    }
    reasons = {
        "sources_right": f"supporting {_shown(wanted[0])}, opposing {_shown(wanted[1])}",
        "figure_right": f"the figure is {reference['figure']}",
        "cited": f"cites {_shown(cited)}",
        "short": f"{words} words, where {MOST_WORDS} are allowed",
    }
    taken = f"{fields.get('supporting')}, {fields.get('opposing')}, {figure}"
    return graded_parts(right, reasons, taken)


def _names(value: Any) -> set[str] | None:
    """The excerpts of a list, with or without brackets; None for any other value."""
    if not isinstance(value, list):
        return None
    names = [str(name).strip("[] ") for name in value]
    return set(names) if all(map(_NAME.fullmatch, names)) else None


def _is(figure: Any, reference: Reference) -> bool:
    """Whether a number is the figure, as rounded to the digits that are asked for."""
    if isinstance(figure, bool) or not isinstance(figure, int | float):
        return False
    return bool(abs(figure - reference["figure"]) < 0.5001 * 10 ** -reference["digits"])


def _shown(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


WORKLOAD: Final = benchmark(
    "research_mining",
    questions,
    official(
        grade,
        "both lists and the figure are right, and a short synthesis cites what is listed",
        *metric_shares(*_FIGURES),
    ),
    judged(grade),
)
