"""Short answers: normalized texts, letters of choices, sets of items."""

from __future__ import annotations

import pytest

from loadgen.plugins.evals.grading.plain_answers import choice, contains_words, items, jaccard, normalized


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  The  CAT,\nsat. ", "the cat sat"),
        ("U.S.A.", "usa"),
        ("ﬁne “quotes”", "fine quotes"),
        ("caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("3.5 + 4 = 7.5 %", "35 + 4 = 75"),
        ("?!", ""),
    ],
)
def test_normalized(text: str, same: str) -> None:
    """NFKD, lower case, no punctuation, single blanks; symbols stay."""
    assert normalized(text) == same


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("3", "it is 3", True),
        ("3", "it is 13", False),
        ("paris", "the answer is paris", True),
        ("paris", "comparison", False),
        ("北京", "答案是北京市", True),
        ("a+b", "so a+b it is", True),
    ],
)
def test_contains_words(part: str, text: str, *, expected: bool) -> None:
    """Whole words and numbers, and any place in scripts without blanks."""
    assert contains_words(part, text) is expected


CHOICES = [
    ("Answer: B", "B"),
    ("**Answer:** (c)", "C"),
    ("**Answer**: D", "D"),
    ("The answer is A because it is.", "A"),
    ("I first thought the answer is B. No: the final answer is C.", "C"),
    (r"So it is $\boxed{\text{D}}$.", "D"),
    ("the correct option is: option B", "B"),
    ("b", "B"),
    ("Let me think.\n\n(C).", "C"),
    ("B) Paris is the capital.", "B"),
    ("**A.** Paris", "A"),
    ("It must be C, and C alone.", "C"),
    ("I think A", "A"),
    ("A dog is an animal.", None),
    ("I believe that it depends.", None),
    ("B is wrong, so C or D.", None),
    ("the answer is a dog", None),
    ("Answer: E", None),
    ("The answer is not B", "B"),
    ("", None),
]


@pytest.mark.parametrize(("text", "letter"), CHOICES)
def test_choices_of_four(text: str, letter: str | None) -> None:
    """Announced, alone, at the beginning, or the only one; articles and pronouns are words."""
    assert choice(text, 4) == letter


def test_choices_of_ten() -> None:
    """Letters up to J; `I` with words after it is a caller who speaks."""
    assert choice("Answer: J", 10) == "J"
    assert choice("I think it is H.", 10) == "H"
    assert choice("Answer: I", 10) == "I"
    assert choice("Answer: K", 10) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["Red", "blue"]', {"red", "blue"}),
        ('They are:\n```json\n["red", "Blue!"]\n```', {"red", "blue"}),
        ("I looked.\nAnswer: red, blue", {"red", "blue"}),
        ("- red\n- blue\n", {"red", "blue"}),
        ("1. Red\n2) Blue; green", {"red", "blue", "green"}),
        ("[]", set()),
        ("", set()),
        ("[1, 2, 2]", {"1", "2"}),
    ],
)
def test_items(text: str, expected: set[str]) -> None:
    """Of a JSON list, of the line of the answer, or of lines and commas."""
    assert items(text) == expected


def test_jaccard() -> None:
    """The intersection by the union; two empty sets are the same."""
    assert jaccard(frozenset("ab"), frozenset("bc")) == 1 / 3
    assert jaccard(frozenset(), frozenset()) == 1
    assert jaccard(frozenset(), frozenset("a")) == 0


@pytest.mark.parametrize("part", ["answer ", "answer is ", "\\boxed{", "A ", "(", "answer: \n", ", "])
def test_long_answers_are_read_in_linear_time(part: str) -> None:
    """200 kB of what nearly matches: with the square of it, this test would not end."""
    text = part * (200_000 // len(part))
    assert choice(text, 10) in {None, "A"}
    assert len(items(text)) <= 1
