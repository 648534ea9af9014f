"""GraphWalks: walks in graphs of up to a million tokens, 1,150 questions (OpenAI, `openai/graphwalks`).

The answer is a set of nodes: all at one distance from a node (`bfs`), or all that point to it (`parents`).
Its F1 is defined by code in the dataset's card, of which three versions were published; the official one here
is that of be6cc6ec. The parsers of lists look for a closing bracket from every opening one; here it is looked
for once.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.headlines import by_tag, metric_means
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text, texts, whole
from workloads.length_class import length_class
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


_ANSWER: Final = "Final Answer:"
_LIST: Final = re.compile(r"Final Answer:\s*\[")
_OLD_LIST: Final = re.compile(r"Final Answer: ?\[")
_ANY_CASE: Final = re.compile(r"final answer:\s*\[", re.IGNORECASE)


def nodes(text: str) -> list[str] | None:
    """By the dataset's card since be6cc6ec: the last line, between the outermost brackets.

    Returns:
        The nodes, of which there may be none; None where the last line is not an answer.
    """
    line = text.rpartition("\n")[2]
    start, end = line.find("["), line.rfind("]")
    if _ANSWER not in line or not 0 <= start < end:
        return None
    return _split(line[start : end + 1].strip("[]"))


def nodes_of_2025_04(text: str) -> list[str] | None:
    """By the card of April 2025: text before the bracket stays with the first node."""
    line = text.rpartition("\n")[2]
    match, end = _OLD_LIST.search(line), line.rfind("]")
    if match is None or end < match.end():
        return None
    return _split(line[match.start() : end + 1].strip("[]"))


def nodes_of_lm_eval(text: str) -> list[str] | None:
    """By lm_eval 0.4.13: final line breaks and quotes around nodes do not count."""
    line = text.rstrip("\n").rpartition("\n")[2]
    match, end = _LIST.search(line), line.rfind("]")
    if match is None or end < match.end():
        return None
    return [node.strip("'\"") for node in _split(line[match.end() : end])]


def nodes_of_openbench(text: str) -> list[str] | None:
    """By openbench: any case, and no text after the list."""
    line = text.rpartition("\n")[2].rstrip()
    match = _ANY_CASE.search(line)
    is_announced = "final answer:" in line.lower() and line.endswith("]")
    if match is None or not is_announced or len(line) - 1 < match.end():
        return None
    return _split(line[match.end() : -1])


def _split(inner: str) -> list[str]:
    return [node.strip() for node in inner.split(",") if node.strip()]


def precision_recall(answered: Iterable[str], wanted: Iterable[str]) -> tuple[float, float]:
    """The shares of the found nodes that are wanted, and of the wanted ones that are found; each once."""
    ours, theirs = set(answered), set(wanted)
    both = len(ours & theirs)
    return both / len(ours) if ours else 0.0, both / len(theirs) if theirs else 0.0


def harmonic_mean(precision: float, recall: float) -> float:
    """F1; 0 where both are 0."""
    return 2 * (recall * precision) / (recall + precision) if recall + precision > 0 else 0.0


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


WORKLOAD: Final = benchmark(
    "graphwalks",
    questions,
    official=ScoreRule(grade, headlines=_HEADLINES),
    published_2025_04=ScoreRule(grade_2025_04, headlines=_HEADLINES),
    jaccard=ScoreRule(grade_jaccard, headlines=(Headline("jaccard"), *metric_means("exact"))),
    lm_eval=ScoreRule(grade_lm_eval, headlines=_HEADLINES),
    openbench=ScoreRule(grade_openbench, headlines=_HEADLINES),
)
