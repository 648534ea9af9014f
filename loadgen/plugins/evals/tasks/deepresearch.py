"""DeepResearch Bench: 100 research tasks, answered with a report (Du et al., arXiv:2506.11763).

RACE: a judge marks the report and a reference report by the criteria of the task; the score is the report's
share of both. Officially a model first removes the citations from the report; here it is judged as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.evals.grading.race import DIMENSIONS, marks_in, race
from loadgen.plugins.evals.headlines import metric_means
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks import baseline
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_KEY: Final = "marks"
_PROMPTS: Final = judge_prompts("deepresearch")
_CHINESE: Final = "zh"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a task, with criteria and a reference report."""
    criteria = {row["prompt"]: _criteria(row) for row in inputs.more("criteria")}
    reports = {row["prompt"]: text(row, "article") for row in inputs.more("reference")}
    for index, row in enumerate(inputs.rows):
        prompt = text(row, "prompt")
        for what, known_prompts in (("criteria", criteria), ("reference report", reports)):
            if prompt not in known_prompts:
                raise ColumnError(f"{row.place}: there is no {what} of this prompt")
        tags = {name: tag(row, name) for name in ("language", "topic")}
        reference = {
            "task": prompt,
            "language": tags["language"],
            "report": reports[prompt],
            **criteria[prompt],
        }
        yield Question(tag(row, "id"), Sample(index, prompt, tags=tags), reference)


def _criteria(row: FileRow) -> dict[str, Any]:
    weights, criterions = row["dimension_weight"], row["criterions"]
    try:
        complete = {
            dimension: [
                {**item, "criterion": str(item["criterion"]), "weight": float(item["weight"])}
                for item in criterions[dimension]
            ]
            for dimension in DIMENSIONS
        }
        return {
            "dimension_weight": {name: float(weights[name]) for name in DIMENSIONS},
            "criterions": complete,
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ColumnError(
            f"{row.place}: `dimension_weight` and `criterions` must have {', '.join(DIMENSIONS)}, the latter "
            "with lists of `criterion`, `explanation` and `weight`"
        ) from error


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Marks for both reports, by each criterion; the judge does not see the weights."""
    prompt = _PROMPTS.prompts["zh" if reference["language"] == _CHINESE else "en"]
    shown = {
        dimension: [
            {"criterion": item["criterion"], "explanation": item.get("explanation", "")} for item in items
        ]
        for dimension, items in reference["criterions"].items()
    }
    messages = prompt.messages(
        task_prompt=reference["task"],
        article_1=answer.text,
        article_2=reference["report"],
        criteria_list=orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode(),
    )
    return (Inquiry(_KEY, messages),)


def grade(reference: Reference, answer: Answer) -> Score:
    """The report's share of the marks of both."""
    reply = answer.judged.get(_KEY)
    if reply is None:
        return pending()
    marks = marks_in(reply)
    if marks is None:
        return unreadable("JSON with marks in all four dimensions", reply)
    result = race(marks, reference)
    shown = ", ".join(f"{name} {share:.3f}" for name, share in result.dimensions.items())
    return graded(result.overall, shown, "", **result.dimensions)


WORKLOAD: Final = benchmark(
    "deepresearch",
    questions,
    baseline.deepresearch(),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("overall"),
            *metric_means(*DIMENSIONS),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)
