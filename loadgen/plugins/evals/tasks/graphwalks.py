"""GraphWalks: walks in graphs of up to a million tokens, 1,150 questions (OpenAI, `openai/graphwalks`).

The answer is a set of nodes: all at one distance from a node (`bfs`), or all that point to it (`parents`).
Its F1 is defined by code in the dataset's card, of which three versions were published; the official one here
is that of be6cc6ec.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.node_list import (
    harmonic_mean,
    nodes,
    nodes_of_2025_04,
    nodes_of_lm_eval,
    nodes_of_openbench,
    precision_recall,
)
from loadgen.plugins.evals.headlines import by_tag, metric_means
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import tag, text, texts, whole
from workloads.length_class import length_class
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

_HEADLINES: Final = (
    Headline("f1"),
    *by_tag("problem_type", ("bfs", "parents"), "f1_"),
    *metric_means("exact"),
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row that is not longer than the option `longest` says; 0 takes all."""
    longest = inputs.options["longest"]
    for index, row in enumerate(inputs.rows):
        length = whole(row, "prompt_chars")
        if longest and length > longest:
            continue
        tags = {"problem_type": tag(row, "problem_type"), "length": length_class(length, "characters")}
        reference = {"answer_nodes": list(texts(row, "answer_nodes", least=0))}
        yield Question(str(index), Sample(index, text(row, "prompt"), tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """F1 of the nodes; 1 for an empty list where no node is right."""
    return _score(reference, nodes(answer.text), both_empty=1.0)


def grade_2025_04(reference: Reference, answer: Answer) -> Score:
    """F1 by the card's code of April 2025: 0 for an empty list, and 2/3 for three right nodes."""
    return _score(reference, nodes_of_2025_04(answer.text), both_empty=0.0)


def grade_lm_eval(reference: Reference, answer: Answer) -> Score:
    """F1 as in lm_eval: 0 for an empty list."""
    return _score(reference, nodes_of_lm_eval(answer.text), both_empty=0.0)


def grade_openbench(reference: Reference, answer: Answer) -> Score:
    """F1 as in openbench: 1 if no node is expected and none was parsed."""
    nodes = nodes_of_openbench(answer.text)
    return _score(reference, nodes, both_empty=1.0, unread=0.0 if reference["answer_nodes"] else 1.0)


def _score(reference: Reference, nodes: list[str] | None, *, both_empty: float, unread: float = 0.0) -> Score:
    if nodes is None:
        return Score(unread, Status.UNPARSED, None, "the last line has no `Final Answer: […]`")
    wanted = reference["answer_nodes"]
    precision, recall = precision_recall(nodes, wanted)
    f1 = harmonic_mean(precision, recall) if nodes or wanted else both_empty
    missed, wrong = set(wanted) - set(nodes), set(nodes) - set(wanted)
    reason = f"{len(missed)} missing, {len(wrong)} wrong" if missed or wrong else ""
    metrics = {"exact": float(not missed and not wrong), "precision": precision, "recall": recall}
    return Score(float(f1), Status.SCORED, ", ".join(nodes), reason, metrics)


def grade_jaccard(reference: Reference, answer: Answer) -> Score:
    """Nodes in both the answer and the right list, by those in either: F1 / (2 - F1)."""
    score = grade(reference, answer)
    return replace(score, value=(score.value or 0.0) / (2 - (score.value or 0.0)))


def _scorer(
    name: str, grade: Callable[[Reference, Answer], Score], definition: str, note: str = ""
) -> Scorer:
    return Scorer(name, 1, grade, definition, _HEADLINES, note=note)


WORKLOAD: Final = benchmark(
    "graphwalks",
    questions,
    _scorer("official", grade, "the card of openai/graphwalks at be6cc6ec, by copies of it"),
    _scorer(
        "published_2025_04",
        grade_2025_04,
        "the card of openai/graphwalks as published in April 2025",
        "for old figures only: the first node keeps the words before it, and so is always wrong",
    ),
    Scorer(
        "jaccard",
        1,
        grade_jaccard,
        "nodes in both by nodes in either, read as by the official scorer",
        (Headline("jaccard"), *metric_means("exact")),
        note="no published figure: it is F1 / (2 - F1) of each answer",
    ),
    _scorer("lm_eval", grade_lm_eval, "lm_eval 0.4.13, tasks/graphwalks/utils.py: f1"),
    _scorer("openbench", grade_openbench, "openbench, scorers/graphwalks.py"),
)
