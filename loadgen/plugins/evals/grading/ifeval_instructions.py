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
    plain,
)
from loadgen.plugins.evals.grading.language import language, languages
from workloads.errors import TaskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random


# Keywords…


def _existence(text: str, *, keywords: Sequence[str]) -> bool:
    return all(re.search(keyword, text, re.IGNORECASE) for keyword in keywords)


def _frequency(text: str, *, keyword: str, frequency: float, relation: str) -> bool:
    return compare(relation, len(re.findall(keyword.strip(), text, re.IGNORECASE)), frequency)


def _forbidden(text: str, *, forbidden_words: Sequence[str]) -> bool:
    return not any(re.search(rf"\b{word}\b", text, re.IGNORECASE) for word in forbidden_words)


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


def _capital_words(text: str, *, capital_frequency: float, capital_relation: str) -> bool:
    return compare(capital_relation, sum(map(str.isupper, words(text))), capital_frequency)


# Lengths…


def _sentences(text: str, *, num_sentences: float, relation: str) -> bool:
    return compare(relation, len(sentences(text)), num_sentences)


def _words(text: str, *, num_words: float, relation: str) -> bool:
    return compare(relation, len(re.findall(r"\w+", text)), num_words)


def _paragraphs(text: str, *, num_paragraphs: float) -> bool:
    filled = [bool(part.strip()) for part in re.split(r"\s?\*\*\*\s?", text)]
    return all(filled[1:-1]) and sum(filled) == num_paragraphs


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


def _placeholders(text: str, *, num_placeholders: float) -> bool:
    return sum(map(_brackets, text.split("\n"))) >= num_placeholders


def _brackets(line: str) -> int:
    r"""How often `\[.*?\]` is in a line; that expression looks for each `[` to the end of the line."""
    count, end = 0, 0
    while (start := line.find("[", end)) >= 0 and (end := line.find("]", start) + 1):
        count += 1
    return count


def _postscript(text: str, *, postscript_marker: str) -> bool:
    # What the official expressions have around this, `\s*` before and `.*$` after, fits anywhere.
    usual = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    marker = postscript_marker.strip()
    return re.search(usual.get(marker, marker.lower()), text.lower()) is not None


def _bullets(text: str, *, num_bullets: float) -> bool:
    # Officially `^\s*…`, which takes the lines before that are empty, too, and looks through them for each.
    stars = re.findall(r"^[^\S\n]*\*[^\*].*$", text, re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*-.*$", text, re.MULTILINE)
    return len(stars) + len(dashes) == num_bullets


def _constrained(text: str) -> bool:
    options = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
    return any(option in text for option in options)


def _highlights(text: str, *, num_highlights: float) -> bool:
    single = re.findall(r"\*[^\n\*]*\*", text)
    double = re.findall(r"\*\*[^\n\*]*\*\*", text)
    filled = [bool(highlight.strip("*").strip()) for highlight in single]
    filled += [bool(highlight.removeprefix("**").removesuffix("**").strip()) for highlight in double]
    return sum(filled) >= num_highlights


def _sections(text: str, *, section_spliter: str, num_sections: float) -> bool:
    return len(re.split(rf"\s?{section_spliter.strip()}\s?\d+\s?", text)) - 1 >= num_sections


def _json(text: str) -> bool:
    text = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _has_title(line: str) -> bool:
    r"""Whether `<<[^\n]+>>` is in a line, with more than brackets and blanks in that."""
    start, end = line.find("<<"), line.rfind(">>")
    return 0 <= start < end - 2 and bool(line[start : end + 2].lstrip("<").rstrip(">").strip())


# Combinations, starts and ends…


def _two_responses(text: str) -> bool:
    parts = [part.strip() for part in text.split("******")]
    filled = [part for part in parts if part]
    return all(parts[1:-1]) and len(filled) == 2 and filled[0] != filled[1]  # noqa: PLR2004 (two of them)


def _repeat(text: str, *, prompt_to_repeat: str) -> bool:
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


def _ends(text: str, *, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


IFEVAL: Final[Mapping[str, Instruction]] = {
    "keywords:existence": plain(_existence, keywords=PATTERNS),
    "keywords:frequency": plain(_frequency, keyword=PATTERN, frequency=COUNT, relation=RELATION),
    "keywords:forbidden_words": plain(_forbidden, forbidden_words=PATTERNS),
    "keywords:letter_frequency": Instruction(
        _letters, {"letter": LETTER, "let_frequency": COUNT, "let_relation": RELATION}, by_chance=True
    ),
    "language:response_language": Instruction(_in_language, {"language": TEXT}, by_chance=True),
    "length_constraints:number_sentences": plain(
        _sentences, requires=model, num_sentences=COUNT, relation=RELATION
    ),
    "length_constraints:number_paragraphs": plain(_paragraphs, num_paragraphs=COUNT),
    "length_constraints:number_words": plain(_words, num_words=COUNT, relation=RELATION),
    "length_constraints:nth_paragraph_first_word": Instruction(
        _first_word, {"num_paragraphs": COUNT, "nth_paragraph": COUNT, "first_word": TEXT}
    ),
    "detectable_content:number_placeholders": plain(_placeholders, num_placeholders=COUNT),
    "detectable_content:postscript": plain(_postscript, postscript_marker=PATTERN),
    "detectable_format:number_bullet_lists": plain(_bullets, num_bullets=COUNT),
    "detectable_format:constrained_response": plain(_constrained),
    "detectable_format:number_highlighted_sections": plain(_highlights, num_highlights=COUNT),
    "detectable_format:multiple_sections": plain(_sections, section_spliter=PATTERN, num_sections=COUNT),
    "detectable_format:json_format": plain(_json),
    "detectable_format:title": plain(lambda text: any(map(_has_title, text.split("\n")))),
    "combination:two_responses": plain(_two_responses),
    "combination:repeat_prompt": plain(_repeat, prompt_to_repeat=TEXT),
    "startend:end_checker": plain(_ends, end_phrase=TEXT),
    "startend:quotation": plain(lambda text: len(text := text.strip()) > 1 and text[0] == text[-1] == '"'),
    "change_case:capital_word_frequency": plain(
        _capital_words, requires=model, capital_frequency=COUNT, capital_relation=RELATION
    ),
    "change_case:english_capital": Instruction(_capital, by_chance=True),
    "change_case:english_lowercase": Instruction(_lowercase, by_chance=True),
    "punctuation:no_comma": plain(lambda text: "," not in text),
}
"""Every instruction by its id."""
