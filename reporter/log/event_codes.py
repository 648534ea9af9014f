"""Event codes and finish reasons in SQL, by the names of `EventType` and `AnswerEnding`."""

from __future__ import annotations

import re
from typing import Final

from recorder.event import EventType
from recorder.finish_reasons import AnswerEnding

_EVENT: Final = re.compile(r"\bEventType\.(\w+)")
_ENDING: Final = re.compile(r"\bAnswerEnding\.(\w+)")


def with_event_codes(sql: str) -> str:
    """The SQL with numbers for names such as `EventType.COMPLETE`, and lists for `AnswerEnding.LIMITED`.

    Raises:
        KeyError: No event, or no ending, has this name.
    """
    numbered = _EVENT.sub(lambda named: str(EventType[named[1]].value), sql)
    return _ENDING.sub(lambda named: str(AnswerEnding[named[1]].reasons), numbered)
