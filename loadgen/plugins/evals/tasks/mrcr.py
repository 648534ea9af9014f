"""MRCR: one of several alike needles in a long conversation, 2,400 questions (OpenAI, `openai/mrcr`).

The model is to repeat, say, the second poem about tapirs, after a random text that is to come first. The
score is how alike the answer is to that poem: `difflib`'s ratio, as code in the dataset's card has it.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text, whole
from workloads.errors import ColumnError, TaskError
from workloads.length_class import length_class
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference
from workloads.tokenizer import tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_NEEDLES: Final = (2, 4, 8)
_LEAST_TOKENS: Final = 4096


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row that the options `needles` and `longest` (in characters) leave; 0 takes all."""
    needles, longest, name = (inputs.options[key] for key in ("needles", "longest", "tokenizer"))
    if needles not in {0, *_NEEDLES}:
        raise TaskError(f"mrcr:needles={needles}: must be one of {_NEEDLES}, or 0 for all of them")
    length = _length_in_tokens(name) if name else _length_in_characters
    for index, row in enumerate(inputs.rows):
        hidden = whole(row, "n_needles")
        if (needles and hidden != needles) or (longest and whole(row, "n_chars") > longest):
            continue
        chat = _messages(row)
        tags = {"needles": str(hidden), "length": length(row, chat)}
        tags["needles and length"] = f"{tags['needles']} needles, {tags['length']}"
        reference = {key: text(row, key) for key in ("answer", "random_string_to_prepend")}
        yield Question(str(index), Sample(index, chat=chat, tags=tags), reference)


def _messages(row: FileRow) -> tuple[dict[str, Any], ...]:
    """The conversation, which the data has as JSON text."""
    prompt = row["prompt"]
    try:
        messages = json.loads(prompt) if isinstance(prompt, str) else prompt
        return tuple({"role": message["role"], "content": str(message["content"])} for message in messages)
    except (ValueError, TypeError, KeyError) as error:
        raise ColumnError(
            f"{row.place}: 'prompt' must be JSON text of a list of messages with role and content"
        ) from error


def _length_in_characters(row: FileRow, _: Sequence[Any]) -> str:
    return length_class(whole(row, "n_chars"), "characters")


def _length_in_tokens(name: str) -> Callable[[FileRow, Sequence[dict[str, Any]]], str]:
    """The card's classes: of the tokens of all messages and of the answer."""
    encode = tokenizer(name).encode

    def length(row: FileRow, chat: Sequence[dict[str, Any]]) -> str:
        texts = [*(message["content"] for message in chat), text(row, "answer")]
        count = sum(len(encode(part, add_special_tokens=False)) for part in texts)
        return length_class(count, "tokens", _LEAST_TOKENS)

    return length


def grade(reference: Reference, answer: Answer) -> Score:
    """How alike the answer is, from 0 to 1; 0 where the random text does not come first."""
    first = reference["random_string_to_prepend"]
    if not answer.text.startswith(first):
        return unparsed("does not begin with the random text")
    response, wanted = answer.text.removeprefix(first), reference["answer"].removeprefix(first)
    # Which is which matters, and so does difflib's leaving out of letters that are frequent.
    ratio = SequenceMatcher(None, response, wanted).ratio()
    return graded(ratio, response, "" if ratio == 1 else "not the same text")


WORKLOAD: Final = benchmark(
    "mrcr",
    questions,
    official=ScoreRule(grade, headlines=(Headline("mean"), *by_tag("needles", _NEEDLES, "needles_"))),
)
