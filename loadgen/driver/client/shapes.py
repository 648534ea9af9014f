"""What earlier responses of an endpoint have shown of its frames: those of a known shape are not parsed.

The frames of two responses differ in the response's `id` and in the time at which it was `created`, and
otherwise mostly in their texts alone. So a template that was learnt from one response holds for the next, and
a frame without a text, such as the last one, means what it meant before. Each shape is proven: the codec
reads the same from it with another id and another time. Only what has been seen twice is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.template import Template
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec, Delta

_RESPONSE: Final = re.compile(
    rb'(data: \{(?:"object": ?"[^"\\\r\n]*", ?)?"id": ?")[^"\\\r\n]*'
    rb'("(?:, ?"object": ?"[^"\\\r\n]*")?, ?"created": ?)[0-9]+(?=,)'
)
"""The start of a frame: what belongs to the response is between and after the two groups."""

_OTHER_RESPONSE: Final = rb"\1another id\g<2>1"
_START: Final = b"data: "
_END: Final = b"\n\n"
_LONGEST: Final = 2048
_MOST: Final = 64
"""How many shapes are kept, and how many that were seen once: a server that numbers its frames has no end."""


class Shapes:
    """The shapes of frames of one endpoint.

    Args:
        codec: Knows what frames mean.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._deltas: dict[tuple[bytes, bytes], Delta] = {}
        self._templates: dict[tuple[bytes, bytes, bytes], Template] = {}
        self._seen_once: set[object] = set()

    def of_response(self, received: bytes) -> ResponseShapes | None:
        """The shapes as the response has them that a frame is from; None for a frame of another form.

        Args:
            received: The bytes of the frame as they came.
        """
        start = _RESPONSE.match(received)
        return None if start is None else ResponseShapes(start[0], start[1] + start[2], self)

    def delta(self, start: bytes, rest: bytes) -> Delta | None:
        """What a known frame means, by its start and its rest, without what belongs to the response."""
        return self._deltas.get((start, rest))

    def template(self, start: bytes, rest: bytes) -> Template | None:
        """The template that a frame looks like, likewise; its head is the start of the rest."""
        for (other_start, head, tail), template in self._templates.items():
            fits = start == other_start and rest.startswith(head) and rest.endswith(tail)
            if fits and len(rest) >= len(head) + len(tail):
                return template
        return None

    def note_template(self, template: Template) -> None:
        """Keep a template, if it is of a form that other responses can have."""
        if (common := _common(template.head)) is None:
            return
        key = (*common, template.tail)
        if key in self._templates or not self._has_seen(key):
            return
        payloads = [
            head.removeprefix(_START) + b"text" + template.tail.removesuffix(_END)
            for head in (template.head, _of_other_response(template.head))
        ]
        if self._means_the_same(*payloads):
            _bound(self._templates)
            self._templates[key] = Template(common[1], template.tail, template.channel)

    def note_delta(self, received: bytes, payload: bytes, delta: Delta) -> None:
        """Keep what a frame without a text means, if it is of a form that other responses can have.

        Args:
            received: The bytes of the frame as they came, and no others.
            payload: Its payload: the JSON.
            delta: What it means.
        """
        if len(received) > _LONGEST or delta.error is not None or received != _START + payload + _END:
            return
        if (common := _common(received)) is None or not self._has_seen(common):
            return
        if self._means_the_same(payload, _of_other_response(received)[len(_START) : -len(_END)]):
            _bound(self._deltas)
            self._deltas[common] = delta

    def _has_seen(self, key: object) -> bool:
        """Whether a shape was seen before; from now on it was."""
        if key in self._seen_once:
            return True
        _bound(self._seen_once)
        self._seen_once.add(key)
        return False

    def _means_the_same(self, payload: bytes, other: bytes) -> bool:
        try:
            return self._codec.chunk(orjson.loads(payload)) == self._codec.chunk(orjson.loads(other))
        except (orjson.JSONDecodeError, MalformedResponseError):
            return False


class ResponseShapes:
    """The shapes of frames of one response.

    Args:
        prefix: The start of its frames.
        start: The same without what is the response's own.
        shapes: Of the endpoint.
    """

    __slots__ = ("_own", "_prefix", "_shapes", "_start")

    def __init__(self, prefix: bytes, start: bytes, shapes: Shapes) -> None:
        self._prefix = prefix
        self._start = start
        self._shapes = shapes
        self._own: dict[Template, Template] = {}

    def is_of(self, received: bytes) -> bool:
        """Whether a frame is from this response."""
        return received.startswith(self._prefix)

    def find(self, received: bytes) -> Delta | Template | None:
        """What a frame of it means that has been seen before, or the template that it looks like."""
        rest = received[len(self._prefix) :]
        if (delta := self._shapes.delta(self._start, rest)) is not None:
            return delta
        if (template := self._shapes.template(self._start, rest)) is None:
            return None
        if (own := self._own.get(template)) is None:
            own = Template(self._prefix + template.head, template.tail, template.channel)
            self._own[template] = own
        return own


def _common(received: bytes) -> tuple[bytes, bytes] | None:
    """What a frame has in common with frames of other responses: its start, and what follows what is its own.

    None for a form that is not known.
    """
    start = _RESPONSE.match(received)
    return None if start is None else (start[1] + start[2], received[start.end() :])


def _of_other_response(received: bytes) -> bytes:
    """The same frame of another response."""
    return _RESPONSE.sub(_OTHER_RESPONSE, received, count=1)


def _bound(shapes: dict[Any, Any] | set[object]) -> None:
    """Make room for one more."""
    if len(shapes) >= _MOST:
        shapes.clear()
