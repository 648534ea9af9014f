"""Reading the letter of a multiple-choice answer."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.grading import choices
from loadgen.plugins.evals.tasks import mmlu, mmlu_pro, supergpqa

FEW: Final = settings(max_examples=50, deadline=None)
LONG: Final = 200_000


def pieces(*some: str, limit: int = 10) -> st.SearchStrategy[str]:
    """Texts put together of pieces that mean something to what reads them."""
    return st.lists(st.sampled_from(some), max_size=limit).map("".join)


# simple-evals…


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Because.\nAnswer: B", "B"),
        ("answer : $C$", "C"),
        ("Answer: A. No, Answer: D", "A"),
        ("Answer: b", "b"),
        ("Answer:\nB", None),
        ("**Answer: B**", "B"),
        ("**Answer:** B", None),
        ("Answer: E", None),
        ("I think A", None),
        ("", None),
    ],
)
def test_gpqa_takes_the_first_letter_behind_answer_on_its_line(text: str, letter: str | None) -> None:
    """As `ANSWER_PATTERN_MULTICHOICE` does; the case stays, and markup between the two is not a letter."""
    assert choices.letter(text) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("**Answer:** B", "B"),
        (r"Answer: $\boxed{C}$", "C"),
        (r"Answer: \(\text{D}\)", "D"),
        (r"Answer: \mathbf{A}", "A"),
        ("Answer : A", "A"),
        ("Answer: a", "a"),
        ("Answer:\u200b\u200b\u200b\u200b\u200b\u200b B", "B"),
        ("Réponse : C", "C"),
        ("Respuesta: D", "D"),
        ("答案：B", "B"),  # noqa: RUF001 (the colon of Chinese)
        ("答え：Ｃ", "C"),  # noqa: RUF001 (full width is what is tested)
        ("정답: D", "D"),
        ("الإجابة: ج", "C"),
        ("উত্তর: খ", None),
        ("উত্তর: ঢ", "D"),
        ("Jibu: A", "A"),
        ("Respuesta: A. Answer: B", "B"),
        ("I think A", None),
        ("The best choice is A", None),
        ("", None),
    ],
)
def test_mmlu_reads_letters_in_many_languages(text: str, letter: str | None) -> None:
    """Markup goes first; the languages are tried in their order, each over the whole text."""
    assert mmlu.letter(text) == letter


# MMLU-Pro…


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is (C). The answer is (D).", "C"),
        ("the answer is B", "B"),
        ("The answer is K. Answer: D", "D"),
        ("Answer: A answer: B\nAnswer: C", "B"),
        ("answer: Answer: B", "B"),
        ("Answer:\n\nJ", "J"),
        ("I choose C or D", "D"),
        ("It is I who say so", "I"),
        ("The answer is **C**", "C"),
        ("AB", None),
        ("k", None),
        ("", None),
    ],
)
def test_mmlu_pro_has_three_rules(text: str, letter: str | None) -> None:
    """The first letter after `answer is`, the last `answer:` of a line, the last letter alone."""
    assert mmlu_pro.letter(text) == letter


@FEW
@given(
    pieces("nswer:", "Answer:", "answer: ", "A", "a", "B", "J", "K", " ", "\n", "\r\n", "x", "é", "_", "1")
)
def test_mmlu_pro_rules_are_the_official_expressions(text: str) -> None:
    """The rules of linear time find what the published regular expressions find."""
    announced = re.search(r".*[aA]nswer:\s*([A-J])", text)
    alone = re.search(r"\b[A-J]\b(?!.*\b[A-J]\b)", text, re.DOTALL)
    assert mmlu_pro.announced(text) == (announced and announced[1])
    assert mmlu_pro.alone(text) == (alone and alone[0])


# SuperGPQA…

OPTIONS: Final = ["red", "$x$", "a (b)", "\\text{A}", "", " y"]
MARKUP: Final = r"(?:[\*\$\{(\[\\(]*?(?:(?:\\boxed|\\mathbf|\\mathrm|\\text){)?)*"
CLOSED: Final = r"(?:\\?\}?\$?\)?\]?\}?)*(?:[\s:\.\*)]|$)"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("So.\nAnswer: C", "C"),
        ("The correct answer is (B).", "B"),
        (r"The best option is $\boxed{D}$", "D"),
        ("ANSWER: **J**", "J"),
        ("Answer: A\nAnswer: B", "B"),
        ("Answer: A\nThat is all.", "A"),
        ("answer: c", "c"),
        ("(E).", "E"),
        ("Answer: K", None),
        ("Answer red", "A"),
        ("Answer: red", None),
        ("The answer is $x$", "B"),
        ("The option is a (b)", "a"),
        ("Answer a (b)", "C"),
        ("The answer is blue", None),
        ("I think A", "I"),
        ("We think A", None),
        ("", None),
    ],
)
def test_supergpqa_takes_a_letter_or_the_text_of_an_option(text: str, letter: str | None) -> None:
    """The last line comes before the whole text, letters before texts; the case of a letter stays."""
    assert supergpqa.letter(text, ["red", "$x$", "a (b)"]) == letter


def official(text: str, contents: str, flags: re.RegexFlag, *, letters: bool) -> str | None:
    """What the published expressions find, as they are."""
    verb, colon = ("is?", r"[\*\s]*:") if letters else ("is", "")
    patterns = (
        rf"[Tt]he\s+(?:\w+\s+)?(?:answer|option)(?:\w+\s+)?\s+{verb}:?\s*{MARKUP}\s*({contents}){CLOSED}",
        rf"(?i:Answer){colon}\s*{MARKUP}\s*({contents}){CLOSED}",
        rf"^[^\w\r\n]*{MARKUP}\s*({contents}){CLOSED}",
    )
    text = text.rstrip()
    for part in (text.split("\n")[-1], text):
        for pattern in patterns:
            if match := re.search(pattern, part, flags):
                return match[1]
    return None


@FEW
@given(
    pieces(
        *("The ", "the answer is", "The best option", "answers", "Answer", "Answer:", " is ", ":", " ", "  "),
        *("\n", "\r\n", "*", "**", "$", "{", "}", "(", ")", "[", "]", "\\", "\\boxed{", "\\text{", "x", "."),
        *("A", "b", "J", "K", "i", *OPTIONS),
        limit=9,
    )
)
def test_supergpqa_finds_what_the_official_expressions_find(text: str) -> None:
    """The expressions of linear time and the published ones, which take exponential time, agree."""
    expected = official(text, "[ABCDEFGHIJ]", re.IGNORECASE, letters=True)
    if expected is None:
        content = official(text, "|".join(map(re.escape, OPTIONS)), re.RegexFlag(0), letters=False)
        expected = "ABCDEF"[OPTIONS.index(content)] if content else None
    assert supergpqa.letter(text, OPTIONS) == expected


# Long ones…


@pytest.mark.parametrize(
    "text",
    [
        "Answer: " + "*" * LONG,
        "The answer is" + " " * LONG,
        "The answerx" + " " * LONG + ".",
        "$" * LONG,
        "Answer: A" + "}" * LONG + "x",
        "\\boxed{" * (LONG // 7),
        "answer:" * (LONG // 7),
        "a" * LONG,
        "a A " * (LONG // 4),
        "Answer" + " " * LONG,
        "the " * (LONG // 4),
    ],
    ids=lambda text: text[:16],
)
def test_letters_of_long_answers_are_found_in_no_time(text: str) -> None:
    """Of 200,000 characters made to delay regular expressions: the published ones would take hours."""
    assert mmlu_pro.letter(text) in {None, "A"}
    assert supergpqa.letter(text, ["red", "blue"]) in {None, "a"}
    assert mmlu.letter(text) in {None, "A", "a"}
    assert choices.letter(text) in {None, "A", "a"}
