"""Calls of functions that are written as JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


Calls = list[dict[str, dict[str, Any]]]


class UndecodableError(Exception):
    """An answer is not in the form of calls; the message says why."""


def are_calls(decoded: object) -> bool:
    """Whether something that was decoded is calls: none at all, `[]`, are calls too."""
    return type(decoded) is list and all(
        type(call) is dict and len(call) == 1 and type(next(iter(call.values()))) is dict for call in decoded
    )


_NAMES: Final = ("name", "tool", "tool_name", "function", "function_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input")
_BLOCK: Final = re.compile(r"```[A-Za-z_]{0,20}[ \t]*\n(.*?)```|<tool_call>(.*?)</tool_call>", re.DOTALL)


def json_calls(text: str) -> Calls | None:
    """The calls in a text as JSON; None without calls.

    The whole text is one call or a list of them; else all of its fenced blocks and `<tool_call>` elements
    that are calls count, one after the other. A call has a `name` (or `tool`, `function`) and `arguments` (or
    `parameters`, `args`, `input`), which may be JSON text; or it is OpenAI's `{"function": {…}}`.
    """
    whole = _read(text)
    if whole is not None:
        return whole
    read_calls = [calls for block in blocks(text) if (calls := _read(block)) is not None]
    return [call for calls in read_calls for call in calls] if read_calls else None


def blocks(text: str) -> list[str]:
    """The contents of fenced blocks and `<tool_call>` elements."""
    return [fenced or tagged for fenced, tagged in _BLOCK.findall(text)]


def calls_of_json(value: Any) -> Calls | None:
    """The calls in a JSON value: one, or a list; None for any other value."""
    values = value if isinstance(value, list) else [value]
    calls = [_call(call) for call in values]
    read_calls = [call for call in calls if call is not None]
    return read_calls if len(read_calls) == len(values) else None


def calls_of_tools(tool_calls: Iterable[Mapping[str, Any]]) -> Calls | None:
    """The calls that an endpoint gave as such; None where the arguments of one are not a JSON object."""
    return calls_of_json(list(tool_calls))


def _read(text: str) -> Calls | None:
    try:
        return calls_of_json(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _call(value: Any) -> dict[str, dict[str, Any]] | None:
    """One call, of one of the forms that are read."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = _member(value, _NAMES)
    arguments = _member(value, _ARGUMENTS)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None
    if not isinstance(name, str) or not name or not isinstance(arguments, dict | None):
        return None
    if arguments is None and not _is_bare(value):
        return None
    return {name: arguments or {}}


def _is_bare(value: Mapping[str, Any]) -> bool:
    """Whether an object without arguments is a call: only a name, and perhaps an id."""
    return not value.keys() - {*_NAMES, *_ARGUMENTS, "id", "type"}


def _member(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)
