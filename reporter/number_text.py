"""Figures for a person: significant digits only."""

from __future__ import annotations

import math
from typing import Any, Final

NOTHING: Final = "-"
"""The placeholder of a missing figure."""

_MOST_DECIMALS: Final = 9
_BAR: Final = 24
_SIZES: Final = ("bytes", "kB", "MB", "GB")
_SIZE_STEP: Final = 1000
_UNITS: Final = frozenset({"ns", "us", "ms", "s", "bytes", "share"})


def decimals(value: float, digits: int = 3) -> int:
    """How many decimals show a value with `digits` significant digits."""
    if value == 0 or not math.isfinite(value):
        return 0
    return min(_MOST_DECIMALS, max(0, digits - 1 - math.floor(math.log10(abs(value)))))


def fixed(value: float | None, places: int) -> str:
    """A value with `places` decimals and thousands separators."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:,.{places}f}"


def figure(value: float | None, digits: int = 3) -> str:
    """A value with `digits` significant digits; whole numbers in full."""
    return NOTHING if value is None else fixed(value, decimals(value, digits))


def between(low: str, high: str) -> str:
    """An interval: `[56.7, 62.1]`; with `NOTHING` as an end, `[99, ∞)` or `(-∞, 12]`."""
    return f"{f'[{low}' if low != NOTHING else '(-∞'}, {f'{high}]' if high != NOTHING else '∞)'}"


def whole(value: int | None) -> str:
    """A count with thousands separators."""
    return NOTHING if value is None else f"{value:,}"


def counted(count: int | None, noun: str) -> str:
    """A number of things: `1 prompt`, `1,319 prompts`."""
    return f"{whole(count)} {noun}{'' if count == 1 else 's'}"


def as_written(value: float | None) -> str:
    """A number in the original notation, with thousands separators."""
    return NOTHING if value is None else f"{value:,.10g}"


def percent(part: float, of: float) -> str:
    """A share in percent, with two significant digits near 0 and near 100: 100 % means all."""
    if not of:
        return NOTHING
    telling = min(100 * part / of, 100 * (of - part) / of, key=abs)
    return f"{fixed(100 * part / of, decimals(telling, 2))} %"


def reading(name: str, value: Any) -> str:
    """A sensor's reading in words: the name without the unit, the value, the unit."""
    words = name.split("_")
    unit = next((word for word in words if word in _UNITS), "")
    label = " ".join(word for word in words if word != unit)
    if value is None or isinstance(value, str):
        return f"{label} {value or NOTHING}"
    if unit == "share":
        return f"{label} {percent(value, 1)}"
    shown = whole(value) if isinstance(value, int) else figure(value)
    return f"{label} {shown} {unit}".rstrip()


def size(value: float) -> str:
    """An amount of bytes, in bytes, kB, MB or GB of 1,000 each."""
    if not math.isfinite(value):
        return NOTHING
    power = next((number for number in range(len(_SIZES)) if abs(value) < _SIZE_STEP ** (number + 1)), -1)
    unit = _SIZES[power]
    return f"{figure(value / _SIZE_STEP ** _SIZES.index(unit), 2)} {unit}"


def seconds(value: float | None) -> str:
    """A span of time: seconds to a tenth below ten minutes, then minutes, then hours."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value < 1:
        return f"{figure(value * 1e3)} ms"
    if round(value, 1) < 600:  # noqa: PLR2004 (ten minutes)
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def bar(share: float) -> str:
    """A bar of the share that is done, and the share in percent."""
    return f"{'█' * round(share * _BAR):░<{_BAR}} {100 * share:3.0f} %"
