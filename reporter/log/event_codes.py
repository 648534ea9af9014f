"""Event codes in SQL, by the names that `recorder.event.EventType` gives them."""

from __future__ import annotations

import re
from typing import Final

from recorder.event import EventType

_NAMED: Final = re.compile(r"\bEventType\.(\w+)")


def with_event_codes(sql: str) -> str:
    """The same SQL with numbers in place of names such as `EventType.COMPLETE`.

    Raises:
        KeyError: No event has this name.
    """
    return _NAMED.sub(lambda named: str(EventType[named[1]].value), sql)
