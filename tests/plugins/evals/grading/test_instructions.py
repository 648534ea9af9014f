"""Each instruction of IFEval is followed by what its definition says, and by nothing else."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.grading import language
from loadgen.plugins.evals.grading.ifeval_instructions import IFEVAL
from loadgen.plugins.evals.grading.instructions import follows
from workloads.errors import ExtraError, TaskError

if TYPE_CHECKING:
    from pathlib import Path

ENGLISH = "this is a plain sentence in the english language, and here is another one"
GERMAN = "das ist ein ganz gewöhnlicher Satz in deutscher Sprache, und hier ist noch einer"

CASES: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    ("keywords:existence", {"keywords": ["cat", "dog"]}, ["A Dog and a concat"], ["a cat", ""]),
    (
        "keywords:frequency",
        {"keyword": " cat ", "frequency": 2, "relation": "less than"},
        ["Cat", "none"],
        ["cat CAT"],
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, ["concat", "cats"], ["a CAT.", "cat-like"]),
    (
        "keywords:letter_frequency",
        {"letter": "A", "let_frequency": 2, "let_relation": "at least"},
        ["aA"],
        ["a b"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "#", "let_frequency": 2, "let_relation": "at least"},
        ["##"],
        ["# b"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": " ", "let_frequency": 1, "let_relation": "less than"},
        ["a b"],
        [],
    ),
    ("language:response_language", {"language": "de"}, [GERMAN, "12345"], [ENGLISH]),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        ["One. Two."],
        ["One."],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["a *** b", "***a\n***\nb ***", "a\n\nb***c"],
        ["a\n\nb", "a *** *** b", "a***b***c"],
    ),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, ["well-known"], ["a b c"]),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Hello"},
        ["a\n\n'\"hello, b", "a\n\nHELLO's b"],
        ["a\n\nb", "hello", "a\n\n\n\nhello", "a\n\nhello\n\nc"],
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, ["[a] [b]", "[[][]"], ["[a", "[\n]"]),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, ["x\np. s. y", "P.S."], ["P.P.S", "ps"]),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.P.S"},
        ["p. p. s", "x P.P.S. y"],
        ["P.S.", "PPS"],
    ),
    ("detectable_content:postscript", {"postscript_marker": "NB: "}, ["x nb: y"], ["x"]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* a\n* b", "- a\n  - b", "\n\n* a\n\n- b", "* a\n** b\n-"],
        ["* a", "* a\n* b\n* c", "a * b\n- c", "*\n* a"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["So: My answer is yes. "],
        ["my answer is yes.", "My answer is yes"],
    ),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*a* *b*", "**a** *b*", "**a** **b**"],
        ["*a*", "* * **", "*a\n*"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": " Section ", "num_sections": 2},
        ["Section 1 a Section2"],
        ["Section a", "SECTION 1 SECTION 2"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": 1}', '```json\n{"a": 1}\n```', "```\nNaN```", "```JSON[]"],
        ["a", "", "x ```json{}```", "[" * 100_000, "9" * 5_000],
    ),
    (
        "detectable_format:title",
        {},
        ["<<a>>", "<< a\n<<b> >>>", "<<>> <<a>>", "<<<x>>"],
        ["<<>>", "<<>", "<< \n>>", "<a>", "<<  >>>", ">><<"],
    ),
    (
        "combination:two_responses",
        {},
        ["a****** b", "******a******b"],
        ["a******a ", "a", "a******b******c", "a****** ******b"],
    ),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say IT "}, [" say it: no"], ["I say it"]),
    ("startend:end_checker", {"end_phrase": " The End."}, ['so "the end." '], ["the end"]),
    ("startend:quotation", {}, [' "a" ', '""'], ['"', '"a', "\u201ca\u201d"]),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["WE CAN'T", "A B", "CANNOT"],
        ["We CAN", "WORD\u2014WORD"],
    ),
    ("change_case:english_capital", {}, [ENGLISH.upper()], [ENGLISH, GERMAN.upper(), "123"]),
    ("change_case:english_lowercase", {}, [ENGLISH], [ENGLISH.title(), GERMAN.lower(), "123"]),
    ("punctuation:no_comma", {}, ["a\uff0cb"], ["a,b"]),
]


@pytest.mark.parametrize(("name", "arguments", "right", "wrong"), CASES)
def test_followed(
    name: str, arguments: dict[str, Any], right: list[str], wrong: list[str], punkt_folder: Path
) -> None:
    """Texts that follow the instruction, and texts that do not."""
    assert punkt_folder.is_dir()
    check = follows(name, arguments)
    assert [text for text in right if not check(text)] == []
    assert [text for text in wrong if check(text)] == []


def test_every_instruction_has_a_case() -> None:
    """There are 25 of them."""
    assert {name for name, *_ in CASES} == set(IFEVAL)
    assert len(IFEVAL) == 25


BAD = [
    ("keyword:existence", {}, "no instruction 'keyword:existence'; did you mean 'keywords:existence'"),
    ("punctuation:no_comma", {"num": 1}, "no argument 'num'; arguments: none"),
    (
        "keywords:existence",
        {"keyword": ["a"]},
        "no argument 'keyword'; arguments: keywords; did you mean 'keywords'",
    ),
    ("keywords:existence", {}, "keywords is None, where a list of texts"),
    (
        "keywords:existence",
        {"keywords": ["("]},
        "where a list of texts that are regular expressions should be",
    ),
    ("keywords:frequency", {"keyword": "a", "frequency": 1, "relation": "at most"}, "one of ('less than'"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": -1}, "is -1, where a number from 0 on"),
    ("keywords:letter_frequency", {"letter": "ab"}, "letter is 'ab', where one letter should be"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 3, "first_word": "a"},
        "nth_paragraph is 3, where one of 2 paragraphs should be",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "message"), BAD)
def test_no_instruction(name: str, arguments: dict[str, Any], message: str) -> None:
    """What the official code would draw at random, or break off with, is an error that says what is wrong."""
    with pytest.raises(TaskError, match=re.escape(message)):
        follows(name, arguments)


def test_the_official_chance() -> None:
    """With a chance, `#` stands for some letter, which is the same for every text; `k` stays what it is."""
    wanted = {"let_frequency": 1, "let_relation": "at least"}
    drawn = set()
    for seed in range(20):
        check = follows("keywords:letter_frequency", {"letter": "#", **wanted}, Random(seed))  # noqa: S311 (no secret)
        letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz#" if check(letter)]
        assert len(letters) == 1
        drawn.update(letters)
        assert follows("keywords:letter_frequency", {"letter": "k", **wanted}, Random(seed))("K")  # noqa: S311 (no secret)
    assert len(drawn) > 5


def test_a_language_is_the_same_every_time() -> None:
    """Without a chance, and with one of the same seed; which letters are looked at is drawn with it."""
    assert {language.language("Berlin Paris Roma") for _ in range(5)} == {
        language.language("Berlin Paris Roma", 0)
    }
    payload = {language.language("Berlin Paris Roma", seed) for seed in range(20)}
    assert len(payload) > 1
    assert language.language("...") is None


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without langdetect the message says which extra brings it."""
    monkeypatch.setitem(__import__("sys").modules, "langdetect.detector_factory", None)
    language.languages.cache_clear()
    with pytest.raises(ExtraError, match=r"pip install 'llm-loadgen\[ifeval\]'"):
        follows("language:response_language", {"language": "en"})


PIECES = [
    "*",
    "**",
    "-",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\x0b",
    "\u2028",
    "a",
    "<<",
    ">>",
    "<",
    ">",
    "[",
    "]",
    "p.",
    "s.",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def official_bullets(text: str) -> int:
    """The official expressions, which are quadratic."""
    stars = re.findall(r"^\s*\*[^\*].*$", text, flags=re.MULTILINE)
    return len(stars) + len(re.findall(r"^\s*-.*$", text, flags=re.MULTILINE))


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_linear_expressions(text: str) -> None:
    """Bullets, placeholders, titles and postscripts are those that the official expressions find."""
    bullets = official_bullets(text)
    assert follows("detectable_format:number_bullet_lists", {"num_bullets": bullets})(text)
    count = len(re.findall(r"\[.*?\]", text))
    placeholders = [
        follows("detectable_content:number_placeholders", {"num_placeholders": n}) for n in (count, count + 1)
    ]
    assert [check(text) for check in placeholders] == [True, False]
    titles = re.findall(r"<<[^\n]+>>", text)
    assert follows("detectable_format:title", {})(text) == any(
        title.lstrip("<").rstrip(">").strip() for title in titles
    )
    match = re.findall(r"\s*p\.\s?s\..*$", text.lower(), flags=re.MULTILINE)
    assert follows("detectable_content:postscript", {"postscript_marker": "P.S."})(text) == bool(match)
