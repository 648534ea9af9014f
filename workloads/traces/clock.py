"""The moments of a trace in nanoseconds, from what people write: seconds, or a date with a time of day."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from workloads.errors import TraceError

_SECOND: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = re.compile(r"(\d{1,11})(?:\.(\d*))?")
_DATE: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?(Z|[+-]\d\d:?\d\d)?",
)


def moment(place: str, name: str, value: str) -> int:
    """Read a moment: `118`, `118.25`, `2023-11-16 18:17:03.9799600`, `2024-05-10 00:00:00.009930+00:00`.

    Args:
        place: Where it stands, for messages.
        name: The column.
        value: What is there. A date without an offset from UTC is in UTC.

    Returns:
        Nanoseconds, since 1970 for a date.

    Raises:
        TraceError: It is not one.
    """
    text = value.strip()
    if match := _SECONDS.fullmatch(text):
        return int(match[1]) * _SECOND + _fraction(match[2])
    if (match := _DATE.fullmatch(text)) and (date := _date(f"{match[1]}{match[3] or '+00:00'}")):
        since = date - _EPOCH
        return (since.days * 86_400 + since.seconds) * _SECOND + _fraction(match[2])
    raise TraceError(
        f"{place}, {name}: {value!r}, where a time should be: seconds (118 or 118.25), or a date and a time "
        "of day (2024-05-10 00:00:00.009930+00:00)"
    )


def _fraction(digits: str | None) -> int:
    """Nanoseconds from the digits after the point; what is finer is cut off."""
    return int((digits or "0")[:9].ljust(9, "0"))


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
