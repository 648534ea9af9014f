"""Intelligence Per Watt: 1,000 messages and problems of three data sets (HazyResearch/intelligence-per-watt).

Each row is judged as its data set is: problems by whether the judge says TRUE, messages to a chat assistant
by a win or a tie in one of two orders against the recorded answer. What is divided by watts is among the
energy figures of the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks import baseline, natural_reasoning, wildchat
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.score import Score
    from workloads.scorer import Inquiry
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_CHAT: Final = "chat"
_REASONING: Final = "reasoning"
_KIND_NAMES: Final = (_REASONING, _CHAT)
_KINDS: Final = {
    "allenai/WildChat": _CHAT,
    "lmsys/lmsys-chat-1m": _CHAT,
    "facebook/natural_reasoning": _REASONING,
}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question for each row with a problem and an answer, numbered by row."""
    index = 0
    for number, row in enumerate(inputs.rows):
        problem, answer = _first(row, "problem", "prompt"), _first(row, "answer", "expected_answer")
        if problem and answer:
            data_set = _data_set(row)
            kind = _KINDS[data_set]
            tags = {"data_set": data_set, "kind": kind, "subject": _first(row, "subject") or "general"}
            reference = {"question": problem, "answer": answer, "kind": kind}
            yield Question(str(number), Sample(index, problem, tags=tags), reference)
            index += 1


def _first(row: FileRow, *columns: str) -> str:
    """The first non-blank cell of several, stripped."""
    cells: Any = row.value
    return next((str(cells[name]).strip() for name in columns if cells.get(name)), "")


def _data_set(row: FileRow) -> str:
    metadata = row["dataset_metadata"]
    try:
        described = orjson.loads(metadata) if isinstance(metadata, str) else metadata
        name = str(described["config"]["dataset_name"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ColumnError(f"{row.place}: `dataset_metadata` has no `config` with a `dataset_name`") from error
    if name not in _KINDS:
        raise ColumnError(f"{row.place}: of {name}, where rows are of {', '.join(_KINDS)}")
    return name


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """The inquiry of the row's data set."""
    if reference["kind"] == _CHAT:
        return wildchat.ask_five(reference, answer)
    return natural_reasoning.ask(reference, answer)


def grade(reference: Reference, answer: Answer) -> Score:
    """By the rule of the row's data set."""
    if reference["kind"] == _CHAT:
        return wildchat.five_verdicts(reference, answer)
    return natural_reasoning.grade(reference, answer)


WORKLOAD: Final = benchmark(
    "ipw",
    questions,
    baseline.ipw(),
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            Headline("scorable", "avg(value) FILTER (status <> 'infra_error')"),
            *by_tag("kind", _KIND_NAMES),
        ),
        ask=ask,
    ),
)
