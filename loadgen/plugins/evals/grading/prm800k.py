"""Whether two answers to a mathematical problem are equal.

By `grade_answer` of openai/prm800k at commit 7ecc7947. They are if they are the same text after either of
two normalizations, or if SymPy makes their difference zero; of tuples and intervals, element by element. A
fraction that is not reduced is not equal to one that is, and what should be a whole number must be written
as one. What SymPy could hang on is not given to it.

In addition to SymPy it takes pylatexenc, which turns LaTeX into text as the official code does.
"""

from __future__ import annotations

import logging
import re
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.mathd import normalized
from workloads.errors import ExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXT: Final = re.compile(r"^\\text\{(?P<text>.+?)\}$")
_MIXED: Final = re.compile("([0-9]) +([0-9])")
_THOUSANDS: Final = re.compile(r"(\d)(,)(\d\d\d)($|\D)")
_FRACTION: Final = re.compile(r"^-?[0-9]+.?/0*[1-9][0-9]*.?$")
_HANGS: Final = re.compile(r"\^\{|\^\(|\^[0-9]+\^|\^[0-9][0-9]+")
_HUGE: Final = re.compile(r"[0-9.]_?e[+-]?(?:[0-9]_?){6}")
"""More digits than anything can compute with; Python's decimals could not be stopped on the way."""

_BRACKETS: Final = frozenset("()[]")
_WHOLE: Final = 1e-7
_MOST_UNKNOWN: Final = 2

_WORDS: Final = (
    ("\\%", "%"),
    ("\\$", "$"),
    ("$", ""),
    ("%", ""),
    (" or ", " , "),
    (" and ", " , "),
    ("million", "*10^6"),
    ("billion", "*10^9"),
    ("trillion", "*10^12"),
)
_UNITS: Final = tuple(
    re.compile(rf"{unit}(es)?(s)? *(\^[0-9]+)?")
    for unit in (
        "degree",
        "cm",
        "centimeter",
        "meter",
        "mile",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "year",
        "foot",
        "feet",
        "inch",
        "yard",
    )
)
_DEGREES: Final = re.compile(r"\^ *\\circ")
_THIN_SPACE: Final = re.compile(r",\\! *")
_MINUS: Final = re.compile("- *")
_SIGNS: Final = (("√", "sqrt"), ("π", "pi"), ("∞", "inf"), ("∪", "U"), ("·", "*"), ("×", "*"))  # noqa: RUF001 (as LaTeX gives it)


def require() -> None:
    """Make sure that the packages are there.

    Raises:
        ExtraError: One is not installed.
    """
    try:
        import_module("pylatexenc.latex2text")
        import_module("sympy")
    except ImportError as error:
        raise ExtraError(
            f"the grader of mathematical answers takes {error.name}: pip install 'llm-loadgen[math]'"
        ) from error


def equal(answer: str, truth: str) -> bool:
    """Whether an answer is the right one.

    It may take long: see `loadgen.plugins.evals.grading.time_limit`.

    Args:
        answer: The answer.
        truth: The right one.

    Raises:
        ExtraError: A package is not installed.
    """
    require()
    if normalized(truth) == normalized(answer):
        return True
    answer, truth = normal(answer), normal(truth)
    if truth == answer:
        return True
    if not answer:
        return False
    wanted, got = _elements(truth), _elements(answer)
    if len(wanted) > 1 and (truth[0] != answer[0] or truth[-1] != answer[-1]):
        return False
    return len(wanted) == len(got) and all(map(_equal, wanted, got))


def normal(text: str) -> str:
    """An answer without units, filler words, spaces, extra braces, and case."""
    if match := _TEXT.search(text):
        text = match["text"]
    for old, new in _WORDS:
        text = text.replace(old, new)
    for unit in _UNITS:
        text = unit.sub("", text)
    text = _DEGREES.sub("", text)
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1]
    text = _THIN_SPACE.sub("", text)
    if _is_whole(text):
        text = str(round(float(text)))
    if "\\" in text:
        text = _without_latex(text)
    text = _MIXED.sub("\\1+\\2", _MINUS.sub("-", text))
    text = text.replace(" ", "").replace("{", "").replace("}", "").lower()
    return str(int(float(text.replace(",", "")))) if _is_whole(_joined(text)) else text


def _without_latex(text: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    logging.getLogger("pylatexenc").setLevel(
        logging.CRITICAL
    )  # it warns of everything that a model writes wrongly
    latex = text.replace("\\tfrac", "\\frac").replace("\\dfrac", "\\frac").replace("\\frac", " \\frac")
    try:
        plain: str = LatexNodes2Text().latex_to_text(latex)
    except Exception:  # noqa: BLE001 (the official code continues with the text as it is, whatever is wrong)
        return text
    for old, new in _SIGNS:
        plain = plain.replace(old, new)
    return plain.strip()


def _is_whole(text: str) -> bool:
    try:
        number = float(text)
        return abs(number - round(number)) <= _WHOLE
    except (ValueError, OverflowError):
        return False


def _joined(text: str) -> str:
    """The text without commas between thousands."""
    while (joined := _THOUSANDS.sub("\\1\\3\\4", text)) != text:
        text = joined
    return text


def _elements(text: str) -> Sequence[str]:
    """The elements of a tuple or an interval; any other text as one element."""
    text = _joined(text)
    if len(text) > 2 and text[0] in _BRACKETS and text[-1] in _BRACKETS and _BRACKETS.isdisjoint(text[1:-1]):  # noqa: PLR2004 (two brackets and what is between)
        return [element.strip() for element in text[1:-1].split(",")]
    return [text] if text else []


def _equal(wanted: str, got: str) -> bool:
    if _FRACTION.search(wanted) and _FRACTION.search(got):
        return wanted == got
    if _is_whole(_joined(wanted)) != _is_whole(_joined(got)):
        return False
    return _is_zero(f"({wanted})-({got})")


def _is_zero(expression: str) -> bool:
    if not _may_be_computed(expression):
        return False
    from sympy import simplify
    from sympy.parsing import sympy_parser as parser

    rules = (*parser.standard_transformations, parser.implicit_multiplication_application)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's compiler, about what the model wrote
            parsed = parser.parse_expr(expression.replace("^", "**"), transformations=rules)
            return bool(simplify(parsed) == 0)
    except Exception:  # noqa: BLE001 (whatever SymPy cannot do is not shown to be equal)
        return False


def _may_be_computed(expression: str) -> bool:
    if _HANGS.search(expression) or _HUGE.search(expression):
        return False
    letters = expression.replace("sqrt", "").replace("frac", "")
    unknown = {letter for letter in letters if letter.isalpha()}
    return len(unknown) <= _MOST_UNKNOWN
