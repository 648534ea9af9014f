"""Checks of an event before the queue: a mistake is refused at its caller and never reaches the log."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from recorder.errors import EventError
from recorder.event import EventType, SampleEvent
from recorder.payloads import PAYLOADS

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGERS: Final = range(-(2**63), 2**63)
"""What a column of SQLite and a BIGINT of DuckDB hold."""

_SAMPLE_EVENTS: Final = frozenset(event.value for event in SampleEvent)
_LONGEST: Final = 60
_CLOSE: Final = 0.9
_UNITS: Final = {
    "duration_ns": "nanoseconds",
    "_ns": "nanoseconds of CLOCK_MONOTONIC",
    "_ms": "milliseconds",
    "_s": "seconds",
}


class _Rule(NamedTuple):
    """The required shape of a value, as a test and in words; with the known keys of a mapping."""

    holds: Callable[[Any], bool]
    expected: str
    keys: _Keys | None = None


class _Keys(NamedTuple):
    """The keys of a payload."""

    rules: Mapping[str, _Rule]
    required: frozenset[str]


def checked(ev_type: Any, at_ns: Any, sample_uuid: Any, data: Any) -> EventType:
    """Check that an event can be written, and that the reporter can read the payload.

    Returns:
        What happened.

    Raises:
        EventError: The event does not exist, or a part of it is of a wrong type or missing.
    """
    kind = ev_type if isinstance(ev_type, EventType) else _event_type(ev_type)
    name = kind.name
    if not _is_integer(at_ns) or at_ns < 0:
        raise _wrong(name, "timestamp_ns", "an integer: nanoseconds of CLOCK_MONOTONIC", at_ns)
    if sample_uuid is not None and not _is_name(sample_uuid):
        raise _wrong(name, "sample_uuid", "a text that names the request", sample_uuid)
    if sample_uuid is None and kind.value in _SAMPLE_EVENTS:
        raise EventError(f"{name}: sample_uuid, the name of the request, is missing")
    if isinstance(data, Mapping) and kind in PAYLOADS:
        _check_keys(name, "", data, _keys(PAYLOADS[kind]))
    return kind


def _event_type(value: Any) -> EventType:
    try:
        return EventType(value)
    except ValueError as error:
        raise EventError(f"{value!r} is not an event; use a member of recorder.EventType") from error


def _check_keys(event: str, inside: str, data: Mapping[Any, Any], keys: _Keys) -> None:
    for key, value in data.items():
        rule = keys.rules.get(key)
        if rule is None:
            if isinstance(key, str) and (meant := _meant(key, tuple(keys.rules))):
                raise EventError(
                    f"{event}: {inside}{key} is not a key; did you mean {inside}{meant}? Rename your key, "
                    "which is too close to a reserved one"
                )
        elif (value is None and key in keys.required) or not rule.holds(value):
            raise _wrong(event, f"{inside}{key}", rule.expected, value)
        elif rule.keys is not None and value is not None:
            _check_keys(event, f"{inside}{key}.", value, rule.keys)
    if missing := keys.required - data.keys():
        key = min(missing)
        raise EventError(f"{event}: {inside}{key} is missing: {keys.rules[key].expected}")


def _wrong(event: str, key: str, expected: str, value: object) -> EventError:
    shown = repr(value)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return EventError(f"{event}: {key} must be {expected}, not {shown}")


@lru_cache(maxsize=1024)
def _meant(key: str, names: tuple[str, ...]) -> str | None:
    """The key that was most likely meant by one that is not known."""
    return next(iter(get_close_matches(key, names, 1, _CLOSE)), None)


@cache
def _keys(payload: Any) -> _Keys:
    rules = {key: _rule(key, hint) for key, hint in get_type_hints(payload).items()}
    return _Keys(rules, payload.__required_keys__)


def _rule(key: str, hint: Any) -> _Rule:
    """The rule of a type, which is one of those that payloads have."""
    if get_origin(hint) in {Union, UnionType}:
        parts = [part for part in get_args(hint) if part is not NoneType]
        rule = _rule(key, parts[0])
        return _Rule(lambda value: value is None or rule.holds(value), rule.expected, rule.keys)
    if is_typeddict(hint):
        keys = _keys(hint)
        return _Rule(_is_mapping, f"a mapping with {', '.join(keys.rules)}", keys)
    if get_origin(hint) is Literal:
        names = get_args(hint)
        return _Rule(lambda value: value in names, f"one of {', '.join(names)}")
    kind = get_origin(hint) or hint
    if kind is int:
        return _Rule(_is_integer, f"an integer{_unit(key)}")
    if kind is float:
        return _Rule(_is_number, f"a number{_unit(key)}")
    return _RULES[kind]


def _unit(key: str) -> str:
    return next((f": {unit}" for suffix, unit in _UNITS.items() if key.endswith(suffix)), "")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in _INTEGERS


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _is_name(value: object) -> bool:
    """A text that SQLite can store, and that names something."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_gaps(value: object) -> bool:
    return isinstance(value, bytes) and len(value) % 4 == 0


_RULES: Final[Mapping[Any, _Rule]] = {
    str: _Rule(lambda value: isinstance(value, str), "a text"),
    bool: _Rule(lambda value: isinstance(value, bool), "true or false"),
    bytes: _Rule(
        _is_gaps, "bytes of uint32 microseconds, as `payloads.arrivals` of `loadgen.recording` makes them"
    ),
    list: _Rule(lambda value: isinstance(value, list | tuple), "a list"),
    Mapping: _Rule(_is_mapping, "a mapping"),
    Any: _Rule(lambda _: True, "anything that JSON has"),
}
