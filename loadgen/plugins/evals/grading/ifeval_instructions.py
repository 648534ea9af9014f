r"""The 25 verifiable instructions of IFEval (Zhou et al., arXiv:2311.07911).

The definition is google-research/google-research, instruction_following_eval at 3f357bd: each instruction has
an id and arguments, and decides whether a text follows it. Here its quadratic expressions are linear
ones that count the same. Where that code draws an argument that is missing at random, here it is an error; a
letter that is not one of a to z is counted as it is, as in 3f357bd, or drawn as in the versions before, where
there is a `chance`.
"""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.english import model, sentences, words
from loadgen.plugins.evals.grading.instruction import (
    COUNT,
    LETTER,
    PATTERN,
    PATTERNS,
    RELATION,
    TEXT,
    Follows,
    Instruction,
    compare,
)
from loadgen.plugins.evals.grading.language import language, languages
from workloads.errors import TaskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random


# Keywords…


def _existence(_: Random | None, *, keywords: Sequence[str]) -> Follows:
    patterns = [re.compile(keyword, re.IGNORECASE) for keyword in keywords]
    return lambda text: all(pattern.search(text) for pattern in patterns)


def _frequency(_: Random | None, *, keyword: str, frequency: float, relation: str) -> Follows:
    pattern = re.compile(keyword.strip(), re.IGNORECASE)
    return lambda text: compare(relation, len(pattern.findall(text)), frequency)


def _forbidden(_: Random | None, *, forbidden_words: Sequence[str]) -> Follows:
    patterns = [re.compile(rf"\b{word}\b", re.IGNORECASE) for word in forbidden_words]
    return lambda text: not any(pattern.search(text) for pattern in patterns)


def _letters(chance: Random | None, *, letter: str, let_frequency: float, let_relation: str) -> Follows:
    counted = letter.strip().lower()
    if chance is not None and not is_plain(letter):
        counted = chance.choice(string.ascii_letters).lower()

    def count(text: str) -> int:
        return text.lower().count(counted) if len(counted) == 1 else 0

    return lambda text: compare(let_relation, count(text), let_frequency)


def is_plain(letter: str) -> bool:
    """Whether a letter is one of those that no version of the official code replaces by another."""
    return "a" <= letter.lower() <= "z" and len(letter) == 1


# Language and case…


def _in_language(chance: Random | None, *, language: str) -> Follows:
    languages()
    return lambda text: _detected(text, chance) in {language, None}


def _capital(chance: Random | None) -> Follows:
    languages()
    return lambda text: text.isupper() and _detected(text, chance) in {"en", None}


def _lowercase(chance: Random | None) -> Follows:
    languages()
    return lambda text: text.islower() and _detected(text, chance) in {"en", None}


def _detected(text: str, chance: Random | None) -> str | None:
    """The language of a text; a text that has none follows whatever is asked, as officially."""
    return language(text, 0 if chance is None else chance.random())


def _capital_words(_: Random | None, *, capital_frequency: float, capital_relation: str) -> Follows:
    model()
    return lambda text: compare(capital_relation, sum(map(str.isupper, words(text))), capital_frequency)


# Lengths…


def _sentences(_: Random | None, *, num_sentences: float, relation: str) -> Follows:
    model()
    return lambda text: compare(relation, len(sentences(text)), num_sentences)


def _words(_: Random | None, *, num_words: float, relation: str) -> Follows:
    return lambda text: compare(relation, len(re.findall(r"\w+", text)), num_words)


def _paragraphs(_: Random | None, *, num_paragraphs: float) -> Follows:
    def check(text: str) -> bool:
        parts = re.split(r"\s?\*\*\*\s?", text)
        filled = [bool(part.strip()) for part in parts]
        return all(filled[1:-1]) and sum(filled) == num_paragraphs

    return check


def _first_word(_: Random | None, *, num_paragraphs: float, nth_paragraph: int, first_word: str) -> Follows:
    if not 1 <= nth_paragraph <= num_paragraphs:
        raise TaskError(
            f"length_constraints:nth_paragraph_first_word: nth_paragraph is {nth_paragraph}, where one of "
            f"{num_paragraphs} paragraphs should be, from 1 on"
        )

    def check(text: str) -> bool:
        parts = text.split("\n\n")
        count = sum(bool(part.strip()) for part in parts)
        # The n-th of all parts, empty ones included, though only filled ones are counted: the official rule.
        if count != num_paragraphs or not parts[int(nth_paragraph) - 1].strip():
            return False
        word = parts[int(nth_paragraph) - 1].split()[0].lstrip("'").lstrip('"')
        letters = re.split(r"""[.,?!'"]""", word, maxsplit=1)[0]
        return (
            "".join(map(str.lower, letters)) == first_word.lower()
        )  # letter by letter: of Greek, another sigma

    return check


# Content and format…


def _placeholders(_: Random | None, *, num_placeholders: float) -> Follows:
    return lambda text: sum(map(_brackets, text.split("\n"))) >= num_placeholders


def _brackets(line: str) -> int:
    r"""How often `\[.*?\]` is in a line; that expression looks for each `[` to the end of the line."""
    count, end = 0, 0
    while (start := line.find("[", end)) >= 0 and (end := line.find("]", start) + 1):
        count += 1
    return count


def _postscript(_: Random | None, *, postscript_marker: str) -> Follows:
    # What the official expressions have around this, `\s*` before and `.*$` after, fits anywhere.
    usual = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    marker = postscript_marker.strip()
    pattern = re.compile(usual.get(marker, marker.lower()))
    return lambda text: pattern.search(text.lower()) is not None


def _bullets(_: Random | None, *, num_bullets: float) -> Follows:
    # Officially `^\s*…`, which takes the lines before that are empty, too, and looks through them for each.
    stars = re.compile(r"^[^\S\n]*\*[^\*].*$", re.MULTILINE)
    dashes = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)
    return lambda text: len(stars.findall(text)) + len(dashes.findall(text)) == num_bullets


def _constrained(_: Random | None) -> Follows:
    options = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
    return lambda text: any(option in text for option in options)


def _highlights(_: Random | None, *, num_highlights: float) -> Follows:
    def check(text: str) -> bool:
        single = re.findall(r"\*[^\n\*]*\*", text)
        double = re.findall(r"\*\*[^\n\*]*\*\*", text)
        filled = [bool(highlight.strip("*").strip()) for highlight in single]
        filled += [bool(highlight.removeprefix("**").removesuffix("**").strip()) for highlight in double]
        return sum(filled) >= num_highlights

    return check


def _sections(_: Random | None, *, section_spliter: str, num_sections: float) -> Follows:
    pattern = re.compile(rf"\s?{section_spliter.strip()}\s?\d+\s?")
    return lambda text: len(pattern.split(text)) - 1 >= num_sections


def _json(_: Random | None) -> Follows:
    def check(text: str) -> bool:
        text = text.strip()
        for fence in ("```json", "```Json", "```JSON", "```"):
            text = text.removeprefix(fence)
        try:
            json.loads(text.removesuffix("```").strip())
        except (ValueError, RecursionError):
            return False
        return True

    return check


def _title(_: Random | None) -> Follows:
    return lambda text: any(map(_has_title, text.split("\n")))


def _has_title(line: str) -> bool:
    r"""Whether `<<[^\n]+>>` is in a line, with more than brackets and blanks in that."""
    start, end = line.find("<<"), line.rfind(">>")
    return 0 <= start < end - 2 and bool(line[start : end + 2].lstrip("<").rstrip(">").strip())


# Combinations, starts and ends…


def _two_responses(_: Random | None) -> Follows:
    def check(text: str) -> bool:
        parts = [part.strip() for part in text.split("******")]
        filled = [part for part in parts if part]
        return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]  # noqa: PLR2004 (two of them)

    return check


def _repeat(_: Random | None, *, prompt_to_repeat: str) -> Follows:
    wanted = prompt_to_repeat.strip().lower()
    return lambda text: text.strip().lower().startswith(wanted)


def _ends(_: Random | None, *, end_phrase: str) -> Follows:
    wanted = end_phrase.strip().lower()
    return lambda text: text.strip().strip('"').lower().endswith(wanted)


def _quoted(_: Random | None) -> Follows:
    return lambda text: len(text := text.strip()) > 1 and text[0] == text[-1] == '"'


def _no_comma(_: Random | None) -> Follows:
    return lambda text: "," not in text


IFEVAL: Final[Mapping[str, Instruction]] = {
    "keywords:existence": Instruction(_existence, {"keywords": PATTERNS}),
    "keywords:frequency": Instruction(
        _frequency, {"keyword": PATTERN, "frequency": COUNT, "relation": RELATION}
    ),
    "keywords:forbidden_words": Instruction(_forbidden, {"forbidden_words": PATTERNS}),
    "keywords:letter_frequency": Instruction(
        _letters, {"letter": LETTER, "let_frequency": COUNT, "let_relation": RELATION}, by_chance=True
    ),
    "language:response_language": Instruction(_in_language, {"language": TEXT}, by_chance=True),
    "length_constraints:number_sentences": Instruction(
        _sentences, {"num_sentences": COUNT, "relation": RELATION}
    ),
    "length_constraints:number_paragraphs": Instruction(_paragraphs, {"num_paragraphs": COUNT}),
    "length_constraints:number_words": Instruction(_words, {"num_words": COUNT, "relation": RELATION}),
    "length_constraints:nth_paragraph_first_word": Instruction(
        _first_word, {"num_paragraphs": COUNT, "nth_paragraph": COUNT, "first_word": TEXT}
    ),
    "detectable_content:number_placeholders": Instruction(_placeholders, {"num_placeholders": COUNT}),
    "detectable_content:postscript": Instruction(_postscript, {"postscript_marker": PATTERN}),
    "detectable_format:number_bullet_lists": Instruction(_bullets, {"num_bullets": COUNT}),
    "detectable_format:constrained_response": Instruction(_constrained),
    "detectable_format:number_highlighted_sections": Instruction(_highlights, {"num_highlights": COUNT}),
    "detectable_format:multiple_sections": Instruction(
        _sections, {"section_spliter": PATTERN, "num_sections": COUNT}
    ),
    "detectable_format:json_format": Instruction(_json),
    "detectable_format:title": Instruction(_title),
    "combination:two_responses": Instruction(_two_responses),
    "combination:repeat_prompt": Instruction(_repeat, {"prompt_to_repeat": TEXT}),
    "startend:end_checker": Instruction(_ends, {"end_phrase": TEXT}),
    "startend:quotation": Instruction(_quoted),
    "change_case:capital_word_frequency": Instruction(
        _capital_words, {"capital_frequency": COUNT, "capital_relation": RELATION}
    ),
    "change_case:english_capital": Instruction(_capital, by_chance=True),
    "change_case:english_lowercase": Instruction(_lowercase, by_chance=True),
    "punctuation:no_comma": Instruction(_no_comma),
}
"""Every instruction by its id."""
