"""`Retry-After`: how long a server asks to be left alone (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.driver.client.head import Head

_SECONDS: Final = re.compile(r"[0-9]+(\.[0-9]+)?")
"""Fractions are not in the standard, but in the wild."""

MOST_S: Final = 1e9
"""No longer wait is asked for: 32 years, whatever the number of digits."""


def retry_after_s(head: Head) -> float | None:
    """The seconds from now that a response asks for, as a number or as an HTTP date; None without."""
    value = head.header("retry-after")
    if value is None:
        return None
    value = value.strip(" \t")
    if _SECONDS.fullmatch(value):
        return min(float(value), MOST_S)
    from email.utils import parsedate_to_datetime

    try:
        moment_s = parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return round(min(max(0.0, moment_s - time.time()), MOST_S), 3)
