"""Event codes in SQL, by the names in `recorder.event.EventType`."""

from __future__ import annotations

import re
from typing import Final

from recorder.event import EventType

_NAMED: Final = re.compile(r"\bEventType\.(\w+)")


def with_event_codes(sql: str) -> str:
    """SQL with numbers in place of names such as `EventType.COMPLETE`.

    Raises:
        KeyError: No event has this name.
    """
    return _NAMED.sub(lambda named: str(EventType[named[1]].value), sql)
