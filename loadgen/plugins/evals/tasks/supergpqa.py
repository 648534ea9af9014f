"""SuperGPQA: 26,529 questions of 285 graduate disciplines, mostly with ten options (arXiv:2502.14739)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import letter as letter_in
from workloads.cells import tag, text, texts
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unparsed, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.workload import Inputs

_LETTERS: Final = "ABCDEFGHIJ"
_LEVELS: Final = ("hard", "middle", "easy")
_KEY: Final = "letter"
_PROMPTS: Final = judge_prompts("supergpqa_letter")
_JUDGE_TOKENS: Final = 1024
_NO_LETTER: Final = "NONE"
_LETTER_LINE: Final = re.compile(
    r"^[ \t*_`>#]*letter[ \t*_`]*:[ \t*_`(\[]*([A-Z]|NONE)[ \t*_`)\].]*$", re.IGNORECASE | re.MULTILINE
)
_LETTER_ALONE: Final = re.compile(r"\A[\s*_`(\[]{0,9}([A-Z]|NONE)[\s*_`)\].]{0,9}\Z")
_PROMPT: Final = prompt("supergpqa", "prompt")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    named = inputs.options["subfield"]
    for index, row in enumerate(inputs.rows):
        options = texts(row, "options", limit=len(_LETTERS))
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


# The letter of an answer is searched for in the last line, then in the whole text; else the text of an option
# is. Between the announcement and the letter may be nothing but markup, for which the official expressions
# have a group that repeats a group that may be empty: over a row of asterisks they take exponential time (the
# official code gives each five seconds, and then goes on without a letter). These try the same places in the
# same order, each once.

_SIGN: Final = r"[*${(\[\\]"
_COMMAND: Final = r"\\(?:boxed|mathbf|mathrm|text)\{"
_COMMANDS: Final = f"(?:{_COMMAND})*"
_MARKUP: Final = rf"{_COMMANDS}(?:{_SIGN}{_COMMANDS})*?"
"""As `(?:SIGN*?COMMAND?)*`: commands are passed over at once, signs one by one as nothing else fits."""

_SPACE: Final = r"(?:(?<!\s)\s*)?"
r"""As `\s*` behind what may be nothing behind another `\s*`."""

_END: Final = r"[\\}$)\]]*(?:[\s:.*)]|$)"
_THE_ANSWER: Final = r"[Tt]he\s+(?:\w+\s+)?(?:answer|option)(?:\w+\s)?\s+"
_ALONE: Final = rf"^[^\w\r\n]*(?:{_COMMAND}{_MARKUP}\s*|(?:(?=[\r\n])\s*)?)"
"""As `^[^\\w\r\n]*MARKUP\\s*`."""

_LETTER_PATTERNS: Final = tuple(
    re.compile(f"{start}([ABCDEFGHIJ]){_END}", re.IGNORECASE)
    for start in (
        rf"{_THE_ANSWER}is?:?\s*{_MARKUP}{_SPACE}",
        rf"Answer[*\s]*:\s*{_MARKUP}{_SPACE}",
        _ALONE,
    )
)


def letter(text: str, options: Sequence[str]) -> str | None:
    """The letter, in the original case where the answer has a letter; None without one."""
    return _search(_LETTER_PATTERNS, text) or _by_content(text, options)


def _by_content(text: str, options: Sequence[str]) -> str | None:
    escaped = [re.escape(option) for option in options]
    letter = _search(_contents(escaped), text)
    if not letter:
        return None
    # The official code takes a text that is another option's escaped one for that option.
    index = escaped.index(letter) if letter in escaped else options.index(letter)
    return chr(ord("A") + options.index(options[index]))


def _contents(escaped: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    either = "|".join(escaped)
    return tuple(
        re.compile(f"{start}({either}){_END}")
        for start in (
            rf"{_THE_ANSWER}is:?\s*{_MARKUP}{_SPACE}",
            rf"(?i:Answer)\s*{_MARKUP}{_SPACE}",
            _ALONE,
        )
    )


def _search(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """The first match of the patterns, in the last line before the whole text."""
    text = text.rstrip()
    for part in (text[text.rfind("\n") + 1 :], text):
        for pattern in patterns:
            if match := pattern.search(part):
                return match[1]
    return None


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the letter is the right one, as a capital."""
    chosen = letter(answer.text, reference["options"])
    if chosen is None:
        return unparsed("no letter and no option", miss=1.0)
    return graded(chosen == reference["answer"], chosen, miss=0.0)


def _mean_of(tag_name: str) -> Headline:
    """The mean of the accuracies of the values of a tag."""
    all_of, right_of = f"histogram(tags['{tag_name}'])", f"histogram(tags['{tag_name}']) FILTER (value = 1)"
    share = f"coalesce(({right_of})[of.key], 0) / of.value"
    return Headline(f"by_{tag_name}", f"list_avg(list_transform(map_entries({all_of}), lambda of: {share}))")


def valid_letters(reference: Reference) -> str:
    """The letters of the question's options."""
    return _LETTERS[: len(reference["options"])]


def ask_letter(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Which option the answer chooses; the judge sees the question, and not which letter is right."""
    question = next((message["content"] for message in answer.messages if message["role"] == "user"), "")
    messages = _PROMPTS.prompts["letter"].messages(
        question=question, answer=answer.text, valid_letters=", ".join(valid_letters(reference))
    )
    return (Inquiry(_KEY, messages, _JUDGE_TOKENS, temperature=0.0),)


def grade_letter(reference: Reference, answer: Answer) -> Score:
    """Right where the letter that the judge took out of the answer is the right one."""
    judgement = answer.judged.get(_KEY)
    if judgement is None:
        return pending()
    valid = valid_letters(reference)
    named = _LETTER_LINE.findall(judgement) or _LETTER_ALONE.findall(judgement)
    taken = named[-1].upper() if named else ""
    if taken != _NO_LETTER and (not taken or taken not in valid):
        return unreadable(f"letter from {valid[0]} to {valid[-1]}, nor {_NO_LETTER}", judgement)
    candidate = "" if taken == _NO_LETTER else taken
    details = {
        "reference_letter": reference["answer"],
        "candidate_letter": candidate,
        "valid_letters": valid,
    }
    chosen = (
        graded(candidate == reference["answer"], candidate, miss=0.0)
        if candidate
        else unparsed("no letter and no option, the judge says", miss=1.0)
    )
    return replace(chosen, details=details)


_HEADLINES: Final = (
    Headline("accuracy"),
    *(_mean_of(name) for name in ("subfield", "field", "discipline")),
    *by_tag("difficulty", _LEVELS),
    Headline("miss_rate", "avg(coalesce(metrics['miss'], 1))", better="lower"),
)

WORKLOAD: Final = benchmark(
    "supergpqa",
    questions,
    official=ScoreRule(grade, headlines=_HEADLINES),
    judge_letter=ScoreRule(grade_letter, headlines=_HEADLINES, ask=ask_letter, judge=_PROMPTS.label),
)
