"""SuperGPQA: 26,529 questions of 285 graduate disciplines, mostly with ten options (arXiv:2502.14739)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workloads.cells import letter as letter_in
from workloads.cells import tag, text, texts
from workloads.grading.supergpqa_letter import letter
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer

_LETTERS: Final = "ABCDEFGHIJ"
_LEVELS: Final = ("hard", "middle", "easy")
_PROMPT: Final = (
    "Answer the following multiple choice question{about}. There is only one correct answer. The last line "
    "of your response should be in the format 'Answer: $LETTER' (without quotes), where LETTER is one of A, "
    "B, C, D, E, F, G, H, I, or J.\n\n{question}\n{options}"
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    named = inputs.options["subfield"]
    for index, row in enumerate(inputs.rows):
        options = texts(row, "options", most=len(_LETTERS))
        discipline, field, subfield = (text(row, name) for name in ("discipline", "field", "subfield"))
        prompt = _PROMPT.format(
            about=f" about {subfield}" if named else "",
            question=text(row, "question"),
            options="\n".join(f"{_LETTERS[place]}) {option}" for place, option in enumerate(options)),
        )
        if not named:  # the template of this prompt ends with a line break, the other one does not
            prompt += "\n"
        tags = {
            "discipline": discipline,
            "field": f"{discipline}/{field}",
            "subfield": f"{discipline}/{field}/{subfield}",
            "difficulty": tag(row, "difficulty"),
        }
        reference = {"answer": letter_in(row, "answer_letter", _LETTERS), "options": options}
        yield Question(tag(row, "uuid"), Sample(index, prompt, tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the letter is the right one, as a capital."""
    found = letter(answer.text, reference["options"])
    if found is None:
        return unparsed("no letter and no option", miss=1.0)
    return graded(found == reference["answer"], found, miss=0.0)


def _mean_of(tag_name: str) -> Headline:
    """The mean of the accuracies of the values of a tag."""
    all_of, right_of = f"histogram(tags['{tag_name}'])", f"histogram(tags['{tag_name}']) FILTER (value = 1)"
    share = f"coalesce(({right_of})[of.key], 0) / of.value"
    return Headline(f"by_{tag_name}", f"list_avg(list_transform(map_entries({all_of}), lambda of: {share}))")


WORKLOAD: Final = Workload(
    name="supergpqa",
    title="graduate knowledge of 285 disciplines, ten options",
    version=1,
    source=Source(
        files=("SuperGPQA*.jsonl*", "train*.jsonl*", "train*.parquet"),
        hub="m-a-p/SuperGPQA",
        split="train",
        columns=(
            "uuid",
            "question",
            "options",
            "answer_letter",
            "discipline",
            "field",
            "subfield",
            "difficulty",
        ),
        rows=26529,
        licence="ODC-BY-1.0",
    ),
    questions=questions,
    scorers=(
        Scorer(
            "official",
            1,
            grade,
            "SuperGPQA/SuperGPQA at 03a3e27, eval/eval.py: zero-shot",
            headlines=(
                Headline("accuracy"),
                *(_mean_of(name) for name in ("subfield", "field", "discipline")),
                *(
                    Headline(level, f"avg(value) FILTER (tags['difficulty'] = '{level}')")
                    for level in _LEVELS
                ),
                Headline("miss_rate", "avg(coalesce(metrics['miss'], 1))", better="lower"),
            ),
        ),
    ),
    options={"subfield": False},
    max_tokens=4096,
    temperature=0.0,
    groups=("discipline", "difficulty"),
)
