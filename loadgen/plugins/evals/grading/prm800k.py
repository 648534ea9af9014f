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
from itertools import chain
from typing import TYPE_CHECKING, Final

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
_UNIT_NAMES: Final = (
    "degree cm centimeter meter mile second minute hour day week month year foot feet inch yard"
)
_UNITS: Final = tuple(re.compile(rf"{unit}(es)?(s)? *(\^[0-9]+)?") for unit in _UNIT_NAMES.split())
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


# The normalization before texts are compared, `grading/math_normalize.py`, after `math_equivalence.py` of
# hendrycks/math; and the last box, `last_boxed_only_string` and `remove_boxed` of hendrycks/math at 985bdc16.

_REPLACED: Final = (
    ("\n", ""),
    ("\\!", ""),
    ("\\\\", "\\"),
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("^{\\circ}", ""),
    ("^\\circ", ""),
    ("\\$", ""),
)
_LONGEST_NAME: Final = 2


class _OddError(Exception):
    """An answer that fails in the official code, which then keeps the answer unchanged."""


def normalized(answer: str) -> str:
    """An answer in the form for comparison."""
    answer = answer.strip()
    if match := _TEXT.search(answer):
        answer = match["text"].strip()
    try:
        return _stripped(answer)
    except _OddError:
        return answer


def _stripped(text: str) -> str:
    for old, new in _REPLACED:
        text = text.replace(old, new)
    text = _without_unit(text)
    for _ in range(2):  # the official code does it twice, and what is left may be one again
        text = text.replace("\\%", "")
    text = text.replace(" .", " 0.").replace("{.", "{0.")
    if text.startswith("."):
        text = f"0{text}"
    name, equals, value = text.partition("=")
    if equals and "=" not in value and len(name) <= _LONGEST_NAME:
        text = value
    text = _fractions(_roots(text).replace(" ", ""))
    return _slash("\\frac{1}{2}" if text == "0.5" else text)


def _without_unit(text: str) -> str:
    before, *after = text.split("\\text{ ")
    if len(after) > 1:
        raise _OddError
    return before


def _roots(text: str) -> str:
    r"""`\sqrt3` as `\sqrt{3}`."""
    before, *after = text.split("\\sqrt")
    if "" in after:
        raise _OddError
    braced = (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}" for part in after)
    return "\\sqrt".join(chain([before], braced))


def _fractions(text: str) -> str:
    r"""`\frac12` and `\frac1{2}` as `\frac{1}{2}`."""
    made, *after = text.split("\\frac")
    for part in after:
        if not part:
            raise _OddError
        if part[0] == "{":
            made += f"\\frac{part}"
        elif len(part) == 1:
            return text
        else:
            below = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
            made += f"\\frac{{{part[0]}}}{below}"
    return made


def _slash(text: str) -> str:
    r"""`1/2` of whole numbers as `\frac{1}{2}`."""
    above, _, below = text.partition("/")
    try:
        a, b = int(above), int(below)
    except ValueError:
        return text
    return f"\\frac{{{a}}}{{{b}}}" if text == f"{a}/{b}" else text


# The boxed answer…

_BOX: Final = "\\boxed{"
_BRACE: Final = re.compile("[{}]")


def last_boxed(text: str) -> str | None:
    r"""The content of the last `\boxed{…}`; None without a complete one."""
    start = text.rfind("\\boxed")
    if start < 0 or not text.startswith(_BOX, start):
        return None
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start + len(_BOX) : brace.start()]
    return None
