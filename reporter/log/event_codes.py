"""Names in SQL that stand for event codes, finish reasons and columns of payloads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, get_args

import orjson

from recorder import payloads
from recorder.event import EventType, KeyColumn
from recorder.finish_reasons import AnswerEnding

if TYPE_CHECKING:
    from collections.abc import Collection

_EVENT: Final = re.compile(r"\bEventType\.(\w+)")
_ENDING: Final = re.compile(r"\bAnswerEnding\.(\w+)")
_COLUMNS: Final = re.compile(r"\bcolumns_of\(([\w, ]+)\)")
_MOMENTS: Final = re.compile(r"\bmoments_of\((\w+), (\w+(?:\(\w+\))?)\)")


def with_event_codes(sql: str) -> str:
    """The SQL with numbers for names such as `EventType.COMPLETE`, and lists for `AnswerEnding.LIMITED`.

    Raises:
        KeyError: No event, or no ending, has this name.
    """
    numbered = _EVENT.sub(lambda named: str(EventType[named[1]].value), sql)
    return _ENDING.sub(lambda named: str(AnswerEnding[named[1]].reasons), numbered)


def with_columns(sql: str) -> str:
    """The SQL with the columns of the payload types that it names.

    `columns_of(Issued)` is a structure for `from_json`, `columns_of(Issued, turn)` of these keys alone;
    `moments_of(Issued, BY)` replaces each moment by its sum with BY.

    Raises:
        AttributeError: No payload type has this name.
    """
    structured = _COLUMNS.sub(lambda named: _structure(named[1].split(", ")), sql)
    return _MOMENTS.sub(lambda named: _moments(named[1], named[2]), structured)


def columns(*types: str) -> dict[str, KeyColumn]:
    """The columns of payload types of `recorder.payloads`, by key."""
    hints = {key: hint for name in types for key, hint in getattr(payloads, name).__annotations__.items()}
    return {key: column for key, hint in hints.items() if (column := _column(hint)) is not None}


def _column(hint: Any) -> KeyColumn | None:
    parts = (part if isinstance(part, KeyColumn) else _column(part) for part in get_args(hint))
    return next((part for part in parts if part is not None), None)


def _structure(names: Collection[str]) -> str:
    keys = [name for name in names if name[0].islower()]
    made = columns(*(name for name in names if name not in keys))
    types = {key: column.sql for key, column in made.items() if key in keys or not keys}
    return f"'{orjson.dumps(types).decode()}'"


def _moments(payload: str, by: str) -> str:
    moments = (key for key, column in columns(payload).items() if column.kind == "MOMENT")
    return ", ".join(f"{key} + {by} AS {key}" for key in moments)
