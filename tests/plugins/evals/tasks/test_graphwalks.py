"""GraphWalks: the nodes of a last line are scored by F1, as each published program reads them."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.tasks import graphwalks
from loadgen.plugins.evals.tasks.graphwalks import WORKLOAD
from workloads.answer import Answer
from workloads.errors import ColumnError
from workloads.score import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workloads.question import Question

SCORERS = {scorer.name: scorer.grade for scorer in WORKLOAD.scorers}
NAMES = ("official", "published_2025_04", "lm_eval", "openbench")

TABLE: dict[tuple[str, str], tuple[float, ...]] = {
    ("so\nFinal Answer: [a, b]", "a b"): (1, 0.5, 1, 1),
    ("Final Answer: [a, b]", "a b c d"): (2 / 3, 1 / 3, 2 / 3, 2 / 3),
    ("Final Answer: []", ""): (1, 0, 0, 1),
    ("Final Answer: []", "a"): (0, 0, 0, 0),
    ("Final Answer: [a]", ""): (0, 0, 0, 0),
    ("nothing", ""): (0, 0, 0, 1),
    ("", "a"): (0, 0, 0, 0),
    ("Final Answer: [b, a]\n", "a b"): (0, 0, 1, 0),
    ("Final Answer: [b, a]\r\n", "a b"): (0, 0, 1, 0),
    ("Final Answer: [b, a]\r", "a b"): (1, 0.5, 1, 1),
    ("Final Answer:  [ a ,b, ]", "a b"): (1, 0, 1, 1),
    ("**Final Answer: [a, b]**", "a b"): (1, 0.5, 1, 0),
    ("final answer: [a, b]", "a b"): (0, 0, 0, 1),
    ("Final Answer: ['a', \"b\"]", "a b"): (0, 0, 1, 0),
    ("[z] Final Answer: [a]", "a"): (0, 0, 1, 1),
    ("Final Answer: [[a]]", "a"): (1, 0, 0, 0),
    ("Final Answer: a, b", "a b"): (0, 0, 0, 0),
    ("Final Answer: ] [", "a"): (0, 0, 0, 0),
}


@pytest.mark.parametrize(("text", "wanted"), TABLE)
def test_f1(text: str, wanted: str) -> None:
    """Four programs, four opinions of one answer."""
    scores = tuple(SCORERS[name]({"answer_nodes": wanted.split()}, Answer(text)).value for name in NAMES)
    assert scores == pytest.approx(TABLE[text, wanted], abs=1e-15)


def graph(rng: Random) -> dict[str, Any]:
    """A row as the dataset has them: edges between random names, and the nodes that are asked for."""
    names = [f"{rng.getrandbits(40):010x}" for _ in range(rng.randint(2, 12))]
    edges = sorted({(rng.choice(names), rng.choice(names)) for _ in range(rng.randint(1, 30))})
    start, kind = rng.choice(names), rng.choice(["bfs", "parents"])
    if kind == "parents":
        nodes, asked = {edge for edge, other in edges if other == start}, f"Find the parents of node {start}."
    else:
        depth = rng.randint(1, 3)
        seen = nodes = {start}
        for _ in range(depth):
            nodes = {other for edge, other in edges if edge in nodes} - seen
            seen = seen | nodes
        asked = f"Perform a BFS from node {start} with depth {depth}."
    listed = "\n".join(f"{edge} -> {other}" for edge, other in edges)
    prompt = f"The graph has the following edges:\n{listed}\n{asked}\nEnd with: Final Answer: [nodes]"
    return {
        "prompt": prompt,
        "answer_nodes": sorted(nodes),
        "prompt_chars": len(prompt),
        "problem_type": kind,
        "date_added": "2025-04-12",
    }


def test_right_answers(
    loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]
) -> None:
    """The right nodes of made-up graphs, in any order, score 1; one too many of n scores 2n / (2n + 1)."""
    rng = Random(1)  # noqa: S311 (no secret)
    rows = [graph(rng) for _ in range(40)]
    questions = loaded("graphwalks", "graphwalks_made.jsonl", rows)
    graded = []
    for question in questions:
        nodes = list(question.reference["answer_nodes"])
        rng.shuffle(nodes)
        more = Answer(f"I walk.\n\nFinal Answer: [{', '.join([*nodes, 'ffff'])}]")
        assert SCORERS["official"](question.reference, more).value == pytest.approx(
            2 * len(nodes) / (2 * len(nodes) + 1)
        )
        right = Answer(f"I walk.\n\nFinal Answer: [{', '.join(nodes)}]")
        graded.append((question, SCORERS["official"](question.reference, right)))
    result = figures(WORKLOAD.scorers[0], [*graded, (questions[0], None)])
    assert result["f1"] == result["exact"] == 40 / 41
    assert {result["f1_bfs"], result["f1_parents"]} > {1.0}
    assert {question.sample.tags["problem_type"] for question in questions} == {"bfs", "parents"}
    assert re.fullmatch(r"\d+-\d+ characters", questions[0].sample.tags["length"])


def test_score_says_what_was_read() -> None:
    """A list that is not all right, and a last line that is not one."""
    score = SCORERS["official"]({"answer_nodes": ["a", "b"]}, Answer("Final Answer: [a, c, d]"))
    assert (score.extracted, score.reason) == ("a, c, d", "1 missing, 2 wrong")
    assert score.metrics == {"exact": 0, "precision": 1 / 3, "recall": 1 / 2}
    assert SCORERS["official"]({"answer_nodes": []}, Answer("[]")).status is Status.UNPARSED


def test_longest(loaded: Callable[..., Sequence[Question]]) -> None:
    """The option leaves out what a model cannot read."""
    row = {"prompt": "p", "answer_nodes": ["a"], "prompt_chars": 8192, "problem_type": "bfs"}
    rows = [row, {**row, "prompt_chars": "8193"}]
    assert len(loaded("graphwalks", "graphwalks.jsonl", rows)) == 2
    (question,) = loaded("graphwalks:longest=8192", "graphwalks.jsonl", rows)
    assert question.sample.tags["length"] == "4096-8192 characters"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer_nodes": "a"}, "column 'answer_nodes': text, where a list of texts"),
        ({"answer_nodes": [1]}, "column 'answer_nodes'"),
        ({"prompt_chars": "long"}, "column 'prompt_chars': text, where a whole number"),
        ({"prompt_chars": 1.5}, "1.5, where a whole number from 0 on"),
    ],
)
def test_a_bad_row(loaded: Callable[..., Sequence[Question]], change: dict[str, Any], message: str) -> None:
    """What is not as it should be has its place in the message."""
    row = {"prompt": "p", "answer_nodes": ["a"], "prompt_chars": 1, "problem_type": "bfs"}
    with pytest.raises(ColumnError, match=message):
        loaded("graphwalks", "graphwalks.jsonl", [{**row, **change}])


def by_expression(pattern: str, line: str, group: int) -> str | None:
    """What an official expression finds in a line."""
    match = re.search(pattern, line)
    return match[group] if match else None


PIECES = ["Final Answer:", "final answer:", " ", "[", "]", "a", ",", "\n", "\r", "\t", "."]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_linear_expressions(text: str) -> None:
    """Brackets are found where the official expressions, which are quadratic, find them."""
    line = text.rpartition("\n")[2]
    inner = by_expression(r"\[.*\]", line, 0) if "Final Answer:" in line else None
    wanted = (
        None if inner is None else [item.strip() for item in inner.strip("[]").split(",") if item.strip()]
    )
    assert graphwalks.nodes(text) == wanted
    old = by_expression(r"Final Answer: ?\[.*\]", line, 0)
    wanted = None if old is None else [item.strip() for item in old.strip("[]").split(",") if item.strip()]
    assert graphwalks.nodes_of_2025_04(text) == wanted
    lm_eval = by_expression(r"Final Answer:\s*\[(.*)\]", text.rstrip("\n").rpartition("\n")[2], 1)
    wanted = None if lm_eval is None else [item.strip() for item in lm_eval.split(",") if item.strip()]
    assert graphwalks.nodes_of_lm_eval(text) == wanted
    openbench = by_expression(r"(?i)final answer:\s*\[(.*)\]\s*$", line, 1)
    wanted = None if openbench is None else [item.strip() for item in openbench.split(",") if item.strip()]
    assert graphwalks.nodes_of_openbench(text) == wanted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Final Answer: [a, b]", 1),
        ("Final Answer: [a, c, d]", 1 / 4),
        ("Final Answer: [c]", 0),
        ("Final Answer: []", 0),
        ("nothing", 0),
    ],
)
def test_jaccard(text: str, value: float) -> None:
    """The nodes in both lists, by those in either."""
    score = SCORERS["jaccard"]({"answer_nodes": ["a", "b"]}, Answer(text))
    assert score.value == pytest.approx(value)
    assert (score.status is Status.UNPARSED) == (text == "nothing")
    assert SCORERS["jaccard"]({"answer_nodes": []}, Answer("Final Answer: []")).value == 1
