"""Durations in options, and numbers in messages: `10m`, `250ms`, `1,000,000`."""

from __future__ import annotations

import math
import re
from typing import Final

_TIMES: Final = ((3_600_000, "h"), (60_000, "m"), (1000, "s"))
"""In milliseconds, the longest first."""

_SECOND: Final = 1000

_LONG: Final = 10**30

_DURATION: Final = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(ns|us|ms|s|m|h)?", re.ASCII)
_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: str) -> float:
    """Read a duration, as in `60`, `90s`, `5m`, `1.5h` or `250ms`, in seconds, or raise ValueError."""
    match = _DURATION.fullmatch(text.strip())
    if match is None or not math.isfinite(float(match[1])):
        raise ValueError(f"{text!r} is not a duration; write 60, 90s, 5m or 1.5h")
    return float(match[1]) * _UNITS[match[2]]


def duration_text(seconds: float) -> str:
    """Write a duration in the longest unit that takes a whole number: `10m`, `90s`, `250ms`; or `1.5s`."""
    milliseconds = round(seconds * 1000)
    for unit, name in _TIMES:
        if milliseconds and milliseconds % unit == 0 and milliseconds == seconds * 1000:
            return f"{milliseconds // unit}{name}"
    return f"{milliseconds}ms" if 0 < milliseconds < _SECOND else f"{float(seconds)!r}s".replace(".0s", "s")


def number_text(number: float) -> str:
    """A number without an exponent, with thousands separators: `1,000,000`, `0.000001`, `2.5`.

    A whole number with more than 30 digits is rounded to a power of ten.
    """
    if isinstance(number, int) and abs(number) >= _LONG:
        # Python refuses to write numbers of more than 4,300 digits.
        return f"about {'-' if number < 0 else ''}10^{round(math.log10(abs(number)))}"
    if not math.isfinite(number):
        return str(number)
    from decimal import Decimal

    decimal = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    text = f"{decimal.normalize():,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
