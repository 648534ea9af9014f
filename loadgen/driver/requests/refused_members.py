"""Members of a request that a server refuses: later requests are sent without them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.requests.attempt import REFUSALS
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.client.codec import Generation

_ECHOES: Final = frozenset({"input", "body", "request"})
"""Members in which servers repeat the request."""

_WITHOUT: Final[Mapping[str, str]] = {
    "stream_options": "token counts come from --tokenizer or from chunks",
    "ignore_eos": "answers can be shorter than asked for",
    "min_tokens": "answers can be shorter than asked for",
    "seed": "sampling does not repeat",
    "max_tokens": "max_completion_tokens is sent in its place",
    "input_type": "texts are embedded without an instruction for the task",
}
"""The members that the client adds, and the effect of each omission."""

_RENAMED: Final = {"max_tokens": "max_completion_tokens"}


class RefusedMembers:
    """The members that a server has refused."""

    def __init__(self, generation: Generation, emit: Callable[[Event], object]) -> None:
        self._own = tuple(name for name in _WITHOUT if name not in generation.extra_body)
        self._renames = not _RENAMED.values() & generation.extra_body.keys()
        self._emit = emit
        self._refused: tuple[str, ...] = ()

    def fitted(self, body: bytes) -> bytes:
        """Return a request's body without the members that are known to be refused."""
        return self._without(body, self._refused) if self._refused else body

    def refused_in(self, body: bytes, failure: str, response: bytes) -> str | None:
        """The optional member of a request named by a failure; None without one."""
        if failure not in REFUSALS or not body.startswith(b"{"):
            return None
        complaint = _complaint(response)
        named = (name for name in self._own if re.search(rf"(?<!\w){name}(?!\w)", complaint))
        sent = orjson.loads(body)
        return next((name for name in named if name in sent), None)

    def without(self, body: bytes, name: str) -> bytes:
        """Return a request's body without one more member."""
        return self._without(body, (name,))

    def confirm(self, names: tuple[str, ...]) -> None:
        """Omit members from now on: a request without the members was accepted."""
        for name in names:
            if name not in self._refused:
                self._refused = (*self._refused, name)
                self._emit(Event(EventType.FINDING, time.monotonic_ns(), data=_finding(name)))

    def _without(self, body: bytes, names: tuple[str, ...]) -> bytes:
        members: dict[str, Any] = orjson.loads(body)
        for name in names:
            value = members.pop(name, None)
            if value is not None and name in _RENAMED and self._renames:
                members[_RENAMED[name]] = value
        return orjson.dumps(members)


def _finding(name: str) -> dict[str, str]:
    return {
        "code": "member_refused",
        "severity": "warning",
        "message": f"The server refuses {name} in requests, so requests are sent without: {_WITHOUT[name]}.",
        "remedy": f"To leave that member out from the start: --extra-body '{{\"{name}\": null}}'.",
    }


def _complaint(response: bytes) -> str:
    """The text of an error, without a repetition of the request."""
    try:
        return orjson.dumps(_unechoed(orjson.loads(response))).decode()
    except orjson.JSONDecodeError:
        return response.decode(errors="replace")


def _unechoed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unechoed(member) for name, member in value.items() if name not in _ECHOES}
    return [_unechoed(member) for member in value] if isinstance(value, list) else value
