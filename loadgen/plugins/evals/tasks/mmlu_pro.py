"""MMLU-Pro: 12,032 questions of 14 categories with up to ten options each (Wang et al., arXiv:2406.01574).

Five examples with their reasoning come first, from the validation questions of the same category. An answer
that no letter can be read from is wrong here; the official scripts draw a letter for it, which is what the
scorers `official_random` and `official_random_option` do. The three rules for the letter, `extract_answer`,
`extract_again` and `extract_final`, take linear time here, with the same results.
"""

from __future__ import annotations

import re
from collections import deque
from random import Random
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import letter as letter_in
from workloads.cells import tag, text, texts
from workloads.errors import ColumnError, SourceError, TaskError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, Status, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

LETTERS: Final = "ABCDEFGHIJ"

_IS: Final = re.compile(r"answer is \(?([A-J])\)?")
_ANNOUNCED: Final = re.compile(r"[aA](?=nswer:\s*([A-J]))")
_ALONE: Final = re.compile(r"\b[A-J]\b")


_MOST_SHOTS: Final = 5
_MOST_OPTIONS: Final = len(LETTERS)
_SEED: Final = 12345

_LOCAL: Final = (
    "The following are multiple choice questions (with answers) about {category}. Think step by step and "
    'then finish your answer with "the answer is (X)" where X is the correct letter choice.\n\n\n\n'
)
_API: Final = (
    "The following are multiple choice questions (with answers) about {category}. Think step by step and "
    'then output the answer in the format of "The answer is (X)" at the end.\n\n'
)
_WITHOUT: Final = "or ask without examples: mmlu_pro:shots=0"
_STEPS: Final = "Let's think step by step."


@dataclass(frozen=True, slots=True)
class _OfficialScript:
    """How an official script asks."""

    begin: str
    shown: Callable[[FileRow], str]
    asked: Callable[[FileRow], str]
    most_tokens: int


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row, after the examples of the row's category."""
    shots, script = inputs.options["shots"], inputs.options["prompt"]
    if shots not in range(_MOST_SHOTS + 1):
        raise TaskError(f"mmlu_pro:shots={shots}: must be 0 to {_MOST_SHOTS}")
    if script not in _SCRIPTS:
        raise TaskError(f"mmlu_pro:prompt={script}: must be one of {', '.join(_SCRIPTS)}")
    official = _SCRIPTS[script]
    examples = _examples(inputs, shots, official.shown)
    for index, row in enumerate(inputs.rows):
        category = text(row, "category")
        if shots and category not in examples:
            raise SourceError(f"{row.place}: there are no examples of the category {category!r}; {_WITHOUT}")
        before = "".join(examples.get(category, ())[:shots])
        prompt = official.begin.format(category=category) + before + official.asked(row)
        name = tag(row, "question_id")
        right = letter_in(row, "answer", LETTERS)
        reference = {"answer": right, "options": len(_options(row)), "id": name}
        sample = Sample(index, prompt, max_tokens=official.most_tokens, tags={"category": category})
        yield Question(name, sample, reference)


def _examples(inputs: Inputs, shots: int, shown: Callable[[FileRow], str]) -> Mapping[str, Sequence[str]]:
    """The examples of each category, in row order."""
    examples: dict[str, list[str]] = {}
    if shots:
        try:
            rows = inputs.more("validation")
        except SourceError as error:
            raise SourceError(f"{error}; {_WITHOUT}") from error
        for row in rows:
            examples.setdefault(text(row, "category"), []).append(shown(row))
    return examples


def _options(row: FileRow) -> Sequence[str]:
    """The options that are some."""
    options = [option for option in texts(row, "options", limit=_MOST_OPTIONS) if option != "N/A"]
    if not options:
        raise ColumnError(f"{row.place}, column 'options': there are none")
    return options


def _listed(row: FileRow) -> str:
    return "".join(f"{LETTERS[place]}. {option}\n" for place, option in enumerate(_options(row)))


def _local_question(row: FileRow) -> str:
    return f"Question:\n{row['question']}\nOptions:\n{_listed(row)}"


def _local_example(row: FileRow) -> str:
    steps = text(row, "cot_content").replace(f"A: {_STEPS}", f"Answer: {_STEPS}")
    return f"{_local_question(row)}{steps}\n\n"


def _api_question(row: FileRow, steps: str) -> str:
    return f"Question: {row['question']}\nOptions: {_listed(row)}Answer: {steps}\n\n"


_SCRIPTS: Final[Mapping[str, _OfficialScript]] = {
    "local": _OfficialScript(
        _LOCAL, _local_example, lambda row: f"{_local_question(row)}Answer: {_STEPS}", 2048
    ),
    "api": _OfficialScript(
        _API,
        lambda row: _api_question(row, text(row, "cot_content").removeprefix("A: ")),
        lambda row: _api_question(row, _STEPS),
        4000,
    ),
}
"""The official scripts: `evaluate_from_local.py` and `evaluate_from_api.py`."""


def letter(text: str) -> str | None:
    """By the first of the three rules that finds one."""
    return after_is(text) or announced(text) or alone(text)


def after_is(text: str) -> str | None:
    """The first letter after `answer is`."""
    match = _IS.search(text)
    return None if match is None else match[1]


def announced(text: str) -> str | None:
    r"""The letter by `.*[aA]nswer:\s*([A-J])`.

    Of the first line in which such an answer begins, the last one that begins in it.
    """
    last, end = None, -1
    for match in _ANNOUNCED.finditer(text):
        if last is None:
            end = text.find("\n", match.start())
        elif 0 <= end < match.start():
            break
        last = match[1]
    return last


def alone(text: str) -> str | None:
    """The last letter that stands alone."""
    last = deque(_ALONE.finditer(text), maxlen=1)
    return last[0][0] if last else None


def grade(reference: Reference, answer: Answer) -> Score:
    """By the letter that the three rules find."""
    return _judged(reference, letter(answer.text))


def grade_api(reference: Reference, answer: Answer) -> Score:
    """As `grade`, but without asterisks in pairs."""
    return _judged(reference, letter(answer.text.replace("**", "")))


def grade_first_rule(reference: Reference, answer: Answer) -> Score:
    """By the letter after the first `answer is`."""
    return _judged(reference, after_is(answer.text))


def grade_random(reference: Reference, answer: Answer) -> Score:
    """By the letter that the three rules find, or one of ten at random."""
    return _guessed(reference, letter(answer.text), _MOST_OPTIONS)


def grade_random_option(reference: Reference, answer: Answer) -> Score:
    """By the letter that the three rules find, or one of the question's own at random."""
    return _guessed(reference, letter(answer.text), reference["options"])


def _judged(reference: Reference, chosen: str | None) -> Score:
    if chosen is None:
        return unparsed("no letter", guess=1 / reference["options"])
    return graded(chosen == reference["answer"], chosen)


def _guessed(reference: Reference, chosen: str | None, options: int) -> Score:
    if chosen is not None:
        return graded(chosen == reference["answer"], chosen)
    guess = drawn(options)
    value = float(guess == reference["answer"])
    return Score(value, Status.UNPARSED, None, f"no letter; {guess} drawn at random")


def drawn(options: int) -> str:
    """The letter that the official scripts draw for an answer without one.

    They seed the generator right before each draw, so that it depends on the number of letters alone: G of
    ten.
    """
    return Random(_SEED).choice(LETTERS[:options])  # noqa: S311 (a benchmark's rule, seeded)


WORKLOAD: Final = benchmark(
    "mmlu_pro",
    questions,
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            Headline("with_guesses", "avg(coalesce(metrics['guess'], value))"),
        ),
    ),
    api=grade_api,
    first_rule=grade_first_rule,
    official_random=grade_random,
    official_random_option=grade_random_option,
)
