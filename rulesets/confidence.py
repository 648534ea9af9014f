"""The confidence that a target demands: the method, the level, and the limit that must meet the bound.

CONF := es[NN] | es[NN]-estimate | ucl[NN][-METHOD] | lcl[NN][-METHOD] | mw[ALPHA]
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from rulesets.demands import Confidence, Form, Method, Side
from rulesets.errors import TargetError, listing, suggestion
from rulesets.metric_table import quantity_of
from rulesets.quantity import PERCENTILE, exact, spell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.quantity import Op, Quantity

LEVELS: Final[Mapping[Method, float]] = {"early_stopping": 0.99}
"""The level of a method where none is named."""
LEVEL: Final = 0.95
"""That of all others; alpha is 0.05 then."""
LEAST_LEVEL: Final = 0.5
"""Below it a limit would be on the wrong side of the figure."""

SIDES: Final[Mapping[Op, Side]] = {"<": "upper", "<=": "upper", ">": "lower", ">=": "lower"}
"""The confidence limit that is compared with a bound."""

_LIMITS: Final[Mapping[Side, str]] = {"upper": "ucl", "lower": "lcl"}
_WRITTEN: Final = re.compile(r"([A-Za-z]+)(\d+\.?\d*|\.\d+)?(?:-(\w*))?", re.ASCII)


def methods(quantity: Quantity, stat: str, *, delta: bool) -> tuple[Method, ...]:
    """Name the methods that there are for a figure; the first is that of `ucl` and `lcl`."""
    if delta:
        return ("mann_whitney",)
    if PERCENTILE.fullmatch(stat):
        return ("effective", "order_stat", "early_stopping")
    match quantity.kind, stat:
        case ("throughput" | "share", _) | (_, "mean"):
            return ("batch_means", "bootstrap")
        case ("error", _) | ("good", "fraction"):
            return ("wilson",)
        case ("accuracy", _):
            return ("normal", "wilson")
        case _:
            return ()


def resolve(asked: Mapping[str, Any], metric: str, stat: str, op: Op, *, delta: bool) -> Confidence:
    """Make a confidence from written parts, and check the fit with the target.

    Args:
        asked: `method`, `level`, `form` and `side`, all of which can be left out, or be None.
        metric: What is bounded.
        stat: The statistic.
        op: The operator.
        delta: Whether the change is bounded.

    Raises:
        TargetError: A part is unknown, or does not go with the target.
    """
    unknown = [key for key in asked if key not in Confidence.__dataclass_fields__]
    if unknown:
        hint = suggestion(unknown[0], Confidence.__dataclass_fields__)
        raise _error(f"unknown key {unknown[0]!r} in a confidence; {hint}")
    method = _method(asked.get("method"), metric, stat, delta=delta)
    level = asked.get("level")
    return Confidence(
        method=method,
        level=_level(LEVELS.get(method, LEVEL) if level is None else level),
        form=_form(asked.get("form"), method, op),
        side=_side(asked.get("side"), method, op),
    )


def read(text: str) -> Mapping[str, Any]:
    """Parse the short form of a confidence, for `resolve`.

    Raises:
        TargetError: It does not follow the grammar.
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise _error(f"{text!r} is not a confidence; write es99, ucl95, lcl95 or mw0.05")
    word, number, suffix = written.groups()
    share = None if number is None else Decimal(number)
    match word:
        case "es":
            return _asked("early_stopping", _percent(word, share), form=suffix or "test")
        case "ucl" | "lcl":
            if suffix in {"mann_whitney", "early_stopping"}:
                raise _error(
                    f"{suffix} has no confidence limit; write {'mw0.05' if suffix[0] == 'm' else 'es99'}"
                )
            return _asked(suffix, _percent(word, share), side="upper" if word == "ucl" else "lower")
        case "mw" if suffix is None:
            return _asked("mann_whitney", None if share is None else float(1 - _alpha(share)))
        case "mw":
            raise _error("mw takes nothing after its alpha, e.g. mw0.05")
    raise _error(f"unknown confidence {word!r}; {suggestion(word, ('es', 'ucl', 'lcl', 'mw'))}")


def write(confidence: Confidence, default: Method | None) -> str:
    """Write a confidence as the short form does."""
    level = exact(confidence.level)
    if confidence.method == "mann_whitney":
        return f"mw{_plain(1 - level)}"
    if confidence.method == "early_stopping":
        return f"es{_plain(level * 100)}" + "-estimate" * (confidence.form == "estimate")
    named = "" if confidence.method == default else f"-{confidence.method}"
    return f"{_LIMITS[confidence.side or 'upper']}{_plain(level * 100)}{named}"


def _asked(method: str | None, level: float | None, **rest: str) -> Mapping[str, Any]:
    return {"method": method, "level": level, **rest}


def _percent(word: str, number: Decimal | None) -> float | None:
    if number is None:
        return None
    if number <= 1:
        raise _error(f"{word}{number} is a confidence of {number} %; write {word}{_plain(number * 100)}")
    return float(number / 100)


def _alpha(number: Decimal) -> Decimal:
    if not 0 < number <= Decimal("0.5"):
        raise _error(
            f"mw{number} is not a chance of a false alarm; alpha is above 0 and at most 0.5, e.g. mw0.05"
        )
    return number


def _method(name: Any, metric: str, stat: str, *, delta: bool) -> Method:
    if name is not None and name not in get_args(Method):
        raise _error(f"unknown method {name!r}; {suggestion(str(name), get_args(Method))}")
    figure = "a change from the baseline" if delta else f"{metric}:{spell(stat)}"
    there_are = methods(quantity_of(metric), stat, delta=delta)
    if not there_are:
        raise _error(f"there is no proof of {figure}; leave the confidence out")
    if name is None:
        return there_are[0]
    if name == "mann_whitney" and not delta:
        raise _error("mann_whitney tests a change from the baseline; write :delta before the operator")
    if name not in there_are:
        raise _error(f"{name} does not go with {figure}, which takes {listing(there_are)}")
    return cast("Method", name)


def _level(level: Any) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float) or not LEAST_LEVEL <= level < 1:
        raise _error(f"the level is a share from 0.5 to below 1, not {level!r}; 95 % is 0.95")
    return float(level)


def _form(form: Any, method: Method, op: Op) -> Form | None:
    if method != "early_stopping":
        if form is not None:
            raise _error(f"{method} has no form {form!r}; early_stopping has a test and an estimate")
        return None
    if SIDES.get(op) != "upper":
        raise _error(f"early stopping counts what is over a bound, and {op} bounds from below; write lcl95")
    if form not in {None, *get_args(Form)}:
        raise _error(f"early stopping has no form {form!r}; {suggestion(str(form), get_args(Form))}")
    return cast("Form", form or "test")


def _side(side: Any, method: Method, op: Op) -> Side | None:
    if method == "mann_whitney" and side is not None:
        raise _error("a change from the baseline is tested, and has no limit; write mw0.05")
    if method in {"early_stopping", "mann_whitney"}:
        if side is not None:
            raise _error(f"{method} has no side; leave {side!r} out")
        return None
    own = SIDES.get(op)
    if own is None:
        raise _error(f"no confidence goes with {op}")
    if side in {None, own}:
        return own
    if side not in get_args(Side):
        raise _error(f"unknown side {side!r}; {suggestion(str(side), get_args(Side))}")
    raise _error(f"a bound of {op} is compared with the {own} limit; write {_LIMITS[own]}")


def _plain(number: Decimal) -> str:
    """Write a number with neither an exponent nor needless zeros."""
    return f"{number.normalize():f}"


def _error(message: str) -> TargetError:
    return TargetError("confidence", message)
