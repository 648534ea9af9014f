"""IFBench: the report is IFEval's, and its figure the loose share of prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.tasks.ifbench import WORKLOAD, grade
from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workloads.question import Question

ROWS: list[dict[str, Any]] = [
    {
        "key": "0",
        "prompt": "Say it without a blank, with one number.",
        "instruction_id_list": ["format:no_whitespace", "count:numbers"],
        "kwargs": [{"N": None}, {"N": 1}],
    },
    {"key": "1", "prompt": "A?", "instruction_id_list": ["format:no_whitespace"], "kwargs": [{}]},
]


def test_the_loose_verdict_is_the_score(
    loaded: Callable[..., Sequence[Question]], figures: Callable[..., dict[str, Any]]
) -> None:
    """An answer that follows without its first line counts; strictly it does not."""
    first, second = loaded("ifbench", "IFBench_test.jsonl", ROWS)
    loosely = grade(first.reference, Answer("Here it is:\nit7"))
    assert (loosely.value, loosely.extracted, loosely.reason) == (1.0, "1 of 2, loosely 2", "")
    assert loosely.metrics["prompt_strict"] == 0.0
    missed = grade(second.reference, Answer("a b"))
    assert (missed.value, missed.reason) == (0.0, "not followed: format:no_whitespace")
    shares = figures(WORKLOAD.scorers[0], [(first, loosely), (second, missed)])
    assert (shares["prompt_loose"], shares["prompt_strict"]) == (0.5, 0.0)
    assert (shares["inst_loose"], shares["inst_strict"]) == (2 / 3, 1 / 3)
    assert (shares["loose_format"], shares["loose_count_numbers"]) == (0.5, 1.0)
