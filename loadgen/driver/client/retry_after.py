"""How long a server asks to be left alone."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.driver.client.head import Head

_MILLISECONDS: Final = ("retry-after-ms", "x-ms-retry-after-ms")
_NUMBER: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
"""Fractions are not in the standard, but in the wild."""

MOST_S: Final = 1e9
"""No longer wait is asked for: 32 years, whatever the number of digits."""


def retry_after_s(head: Head) -> float | None:
    """The seconds from now that a response asks for, as a number or as an HTTP date; None without."""
    for name in _MILLISECONDS:
        if _NUMBER.fullmatch(value := (head.header(name) or "").strip(" \t")):
            return min(float(value) / 1e3, MOST_S)
    value = (head.header("retry-after") or "").strip(" \t")
    if _NUMBER.fullmatch(value):
        return min(float(value), MOST_S)
    try:
        moment_s = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return round(min(max(0.0, moment_s - time.time()), MOST_S), 3)
