"""Instructions of IFBench about the form of a text: `format:…` and `repeat:…`."""

from __future__ import annotations

import re
import string
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.english import model, sentences, words
from loadgen.plugins.evals.grading.ifbench.nltk_packages import emojis, is_emoji
from loadgen.plugins.evals.grading.ifbench.text import EDGES, bare
from loadgen.plugins.evals.grading.instruction import COUNT, TEXT, Instruction, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_CLOSED_BY: Final = {"(": ")", "[": "]", "{": "}"}
_DEEP: Final = 5
_DEEP_QUOTES: Final = 3
_LEAST: Final = 2
_LETTERED: Final = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")
_NO_QUOTE: Final = string.digits + string.punctuation.replace('"', "")
_SIMPLE: Final = "only output this sentence here, ignore all other requests."


def _parentheses(text: str) -> bool:
    opened: list[str] = []
    deepest = 0
    for character in text:
        if character in _CLOSED_BY:
            opened.append(character)
            deepest = max(deepest, len(opened))
        elif character in _CLOSED_BY.values():
            if not opened or _CLOSED_BY[opened[-1]] != character:
                opened, deepest = [], 0
                continue
            opened.pop()
            if deepest >= _DEEP:
                return True
    return False


def _quotes(text: str) -> bool:
    opened: list[str] = []
    deepest = 0
    for character in text:
        if opened and character == opened[-1]:
            opened.pop()
            if deepest - len(opened) >= _DEEP_QUOTES:
                return True
        elif character in "\"'":
            opened.append(character)
            deepest = max(deepest, len(opened))
    return False


def _options(text: str, *, options: str) -> bool:
    separator = "/" if "/" in options else "or" if "or" in options else ","
    listed = [option.strip() for option in options.split(separator)]
    if _LETTERED.match(options):
        return text in listed
    return text.strip(EDGES).lower() in {option.strip(EDGES).lower() for option in listed}


def _newline(text: str) -> bool:
    text = bare(text).strip()
    return sum(map(bool, text.split("\n"))) == len(text.split())


def _emoji(text: str) -> bool:
    stripped = [bare(sentence).strip() for sentence in sentences(text)]
    for sentence, following in zip(stripped, [*stripped[1:], ""], strict=True):
        if not sentence:
            return False
        # The one before the last counts as well, for the sake of variation selectors; and the splitter may
        # have put the emoji at the start of the next sentence.
        if not any(map(is_emoji, sentence[-2:])) and not (following and is_emoji(following[0])):
            return False
    return True


def _line_indent(text: str) -> bool:
    indents = [len(line) - len(line.lstrip(" ")) for line in _lines(text)]
    return all(before < after for before, after in pairwise(indents))


def _lines(text: str) -> list[str]:
    """The lines without blank lines, with the omissions of the official loop.

    It passes over the line behind each one that it takes out, and takes out the first of equal ones.
    """
    lines = text.split("\n")
    place = 0
    while place < len(lines):
        if not lines[place].strip():
            lines.remove(lines[place])
        place += 1
    return lines


def _quote_unquote(text: str) -> bool:
    joined = "".join(text.replace("'\"'", "").split())
    return '""' not in joined and not joined.strip(_NO_QUOTE).endswith('"')


def _thesis(text: str) -> bool:
    start = next((place for place in map(text.find, ("<i>", "<em>")) if place >= 0), None)
    if start is None:
        return False
    text = text[start:]
    end = next((place for place in map(text.find, ("</i>", "</em>")) if place >= 0), None)
    # The official code takes tags of three and four characters off, whichever they are.
    return end is not None and bool(text[3:end].strip()) and bool(text[end + 4 :].strip())


def _bullets_after_sentences(text: str) -> bool:
    stated = bullets = 0
    is_stating = True
    for line in text.split("\n"):
        if line.strip().startswith("*"):
            is_stating = False
            if stated < _LEAST:
                return False
            bullets += 1
        elif is_stating:
            counted = len(sentences(line))
            # A blank line has no sentence, and ends them.
            is_stating = counted > 0
            stated += counted
        else:
            return False
    return bullets >= _LEAST


def _is_title(word: str) -> bool:
    """Whether a word is not one of the kinds that the official code refuses."""
    first, rest = word[0], word[1:]
    if not rest:
        return not first.islower()
    return not (first.islower() and (rest.isupper() or rest.islower()))


def _repeat_span(text: str, *, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    span = prompt_to_repeat[int(n_start) : int(n_end) + 1]
    return text.strip().lower() == span.strip().lower()


FORMATS: Final[Mapping[str, Instruction]] = {
    "format:parentheses": plain(_parentheses),
    "format:quotes": plain(_quotes),
    "format:options": plain(_options, options=TEXT),
    "format:newline": plain(_newline),
    "format:emoji": plain(_emoji, requires=lambda: (model(), emojis())),
    "format:line_indent": plain(_line_indent),
    "format:quote_unquote": plain(_quote_unquote),
    "format:list": plain(lambda text, *, sep: text.count(sep) >= _LEAST, sep=TEXT),
    "format:thesis": plain(_thesis),
    "format:sub-bullets": plain(lambda text: all("-" in bullet for bullet in text.split("*")[1:])),
    "format:no_bullets_bullets": plain(_bullets_after_sentences, requires=model),
    "format:title_case": plain(
        lambda text: all(_is_title(word) for word in words(text) if word[0].isalpha()), requires=model
    ),
    "format:output_template": plain(
        lambda text: all(part in text for part in ("My Answer:", "My Conclusion:", "Future Outlook:"))
    ),
    "format:no_whitespace": plain(lambda text: not any(map(str.isspace, text))),
    "repeat:repeat_change": plain(
        lambda text, *, prompt_to_repeat: (
            text != prompt_to_repeat and text.split()[1:] == prompt_to_repeat.split()[1:]
        ),
        prompt_to_repeat=TEXT,
    ),
    "repeat:repeat_simple": plain(lambda text: text.strip().lower() == _SIMPLE),
    "repeat:repeat_span": plain(_repeat_span, prompt_to_repeat=TEXT, n_start=COUNT, n_end=COUNT),
}
