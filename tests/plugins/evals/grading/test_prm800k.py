"""Whether two mathematical answers are equal."""

from __future__ import annotations

import sys
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.evals.grading import prm800k
from loadgen.plugins.evals.grading.prm800k import last_boxed, normalized
from workloads.errors import ExtraError

ODD: Final = (
    *("\\frac", "\\sqrt", "\\text{", "{", "}", "(", ")", "[", "]", ",", ".", "/", "=", "^", "_", "\\", "%"),
    *("$", " ", "\n", "-", "x", "5", "12", "1,000", " and ", "million", "cm", "²", "٣", "\\pi", "nan", "1e5"),
)


@pytest.mark.parametrize(
    ("argument", "truth", "same"),
    [
        ("1/2", r"\frac{1}{2}", True),
        ("0.5", r"\frac12", True),
        (r"\dfrac{1}{2}", r"\frac{1}{2}", True),
        ("2/4", r"\frac{1}{2}", False),
        ("10{,}000", "10000", True),
        (r"10,\!000", "10,000", True),
        ("1,000", "1000", True),
        (r"90^\circ", "90", True),
        ("5 cm", "5", True),
        (r"5\text{ cm}", "5", True),
        ("x=5", "5", True),
        (r"50\%", "50", True),
        (r"\$32", "32", True),
        ("32.0", "32", True),
        ("(1,2)", "(1, 2)", True),
        ("[1,2]", "(1,2)", False),
        ("(2,1)", "(1,2)", False),
        ("1,2", "1, 2", True),
        (r"\sqrt2", r"\sqrt{2}", True),
        (r"\frac{\sqrt{8}}{2}", r"\sqrt{2}", True),
        ("2x+1", "1+2x", True),
        ("(x+1)^2", "x^2+2x+1", True),
        (r"\text{Evelyn}", "evelyn", True),
        (r"\text{(C)}", "C", True),
        (r"3\frac12", r"\frac{7}{2}", True),
        ("2.99999999", "3", True),
        ("3.14", r"\pi", False),
        (r"\frac", "1", False),
        ("", "1", False),
        (" ", "0", False),
        ("x^{10}-x^{10}+1", "1", False),
        ("9+1", "10", False),
        ("e", "2.718", False),
        (r"\infty", "inf", True),
        (r"7 \text{ and } 5", "5,7", False),
        ("5 or 7", "5,7", True),
        (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        (r"2\sqrt{3}", r"\sqrt{12}", True),
        (r"-\frac{1}{3}", r"\frac{-1}{3}", True),
        ("½", r"\frac12", False),
        ("4\n2", "42", True),
        ("1,2,3", "1,2", False),
        ("a+b+c", "c+b+a", False),
        ("1e999", "2", False),
        ("nan", "1", False),
        ("(1;2)", "(1,2)", False),
        ("6*2", "12", False),
        (r"\frac{10}{5}", "2", False),
        (r"x \in [1,2]", "[1,2]", False),
        ("٣", "3", True),
    ],
)
def test_answers_are_equal_as_prm800k_has_them(argument: str, truth: str, same: bool) -> None:  # noqa: FBT001 (a column of the table)
    """The verdicts of `grade_answer` of openai/prm800k, among them the odd ones."""
    assert prm800k.equal(argument, truth) is same


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"\frac1{72}", r"\frac{1}{72}"),
        (r"\tfrac{1}{2}", r"\frac{1}{2}"),
        (r"\sqrt3x", r"\sqrt{3}x"),
        ("3/4", r"\frac{3}{4}"),
        ("03/4", "03/4"),
        ("a/b", "a/b"),
        (".5", r"\frac{1}{2}"),
        ("k = 5", "5"),
        ("kk = 5", "kk=5"),
        (r"5\text{ cm}", "5"),
        (r"5\text{ cm} and 3\text{ m}", r"5\text{ cm} and 3\text{ m}"),
        (r" \text{ yes } ", "yes"),
        (r"\\\%%5", "5"),
        (r"2 \frac", r"2 \frac"),
        (r"\frac1", r"\frac1"),
        (r"\sqrt", r"\sqrt"),
        ("", ""),
    ],
)
def test_answers_are_normalized_as_math_does_it(answer: str, normal: str) -> None:
    """What the official code fails on stays as it is."""
    assert normalized(answer) == normal


@pytest.mark.parametrize(
    ("text", "boxed"),
    [
        (r"So $\boxed{1}$, no, $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"\boxed{}", ""),
        (r"\boxed{1", None),
        (r"\boxed{1} and \boxed{2", None),
        (r"\boxed 5", None),
        (r"\fbox{5}", None),
        ("5", None),
        ("", None),
    ],
)
def test_the_answer_is_what_is_in_the_last_box(text: str, boxed: str | None) -> None:
    """With the braces in it; a box that does not end is not one, whatever came before."""
    assert last_boxed(text) == boxed


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(ODD), max_size=6).map("".join))
def test_every_answer_is_equal_to_itself(answer: str) -> None:
    """Whatever a model writes, nothing raises, and what is the same is equal."""
    assert prm800k.equal(answer, answer)
    assert isinstance(prm800k.equal(answer, "1"), bool)


def test_without_the_packages_an_error_says_how_to_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra `math` has them."""
    monkeypatch.setitem(sys.modules, "pylatexenc.latex2text", None)
    with pytest.raises(ExtraError, match=r"pip install 'llm-loadgen\[math\]'"):
        prm800k.equal("1", "1")
