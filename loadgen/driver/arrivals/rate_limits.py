"""The bounds of rates and times of a load."""

from __future__ import annotations

from typing import Final

from loadgen.driver.errors import ProfileError
from workloads.units import number_text

LEAST_RATE: Final = 1e-6
MOST_RATE: Final = 1e6
MOST_SECONDS: Final = 366 * 86_400.0


def shown(number: float) -> str:
    """A number in the fewest digits that parse to an equal number."""
    return repr(float(number)).removesuffix(".0")


def require_rate(rate: float) -> None:
    """Refuse a rate that is out of range."""
    # NaN is within nothing.
    if not 0 <= rate <= MOST_RATE:
        raise ProfileError(f"a rate of {shown(rate)}: must be from 0 to {number_text(MOST_RATE)} req/s")
    if 0 < rate < LEAST_RATE:
        raise ProfileError(f"a rate of {shown(rate)}: must be 0, or at least {number_text(LEAST_RATE)} req/s")


def require_seconds(seconds: float) -> None:
    """Refuse a value that is not a time, or out of range."""
    if not 0 < seconds <= MOST_SECONDS:
        raise ProfileError(f"a time of {shown(seconds)} s: must be above 0 s, and {MOST_SECONDS:g} s at most")
