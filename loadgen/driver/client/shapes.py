"""What earlier responses of an endpoint have shown of its frames: those of a known shape are not parsed.

The frames of two responses differ in the response's `id` and in the time at which it was `created`, and
otherwise mostly in their texts alone. So a template that was learnt from one response holds for the next, and
a frame without a text, such as the last one, means what it meant before. Each shape is proven: the codec
reads the same from it with another id and another time. Only what has been seen twice is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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
        self._deltas: dict[bytes, Delta] = {}
        self._templates: dict[tuple[bytes, bytes], Template] = {}
        self._seen_once: set[object] = set()

    def find(self, received: bytes) -> Delta | Template | None:
        """What a frame means that has been seen before, or the template that it looks like.

        Args:
            received: The bytes of a frame as they came.
        """
        start = _RESPONSE.match(received)
        if start is None:
            return None
        rest = received[start.end() :]
        common = start[1] + start[2] + rest
        if (delta := self._deltas.get(common)) is not None:
            return delta
        for (head, tail), template in self._templates.items():
            if common.startswith(head) and common.endswith(tail) and len(common) >= len(head) + len(tail):
                own_head = received[: len(head) + len(received) - len(common)]
                return Template(own_head, tail, template.channel)
        return None

    def note_template(self, template: Template) -> None:
        """Keep a template, if it is of a form that other responses can have."""
        if (common := _common(template.head)) is None:
            return
        key = (common, template.tail)
        if key in self._templates or not self._has_seen(key):
            return
        payloads = [
            head.removeprefix(_START) + b"text" + template.tail.removesuffix(_END)
            for head in (template.head, _of_other_response(template.head))
        ]
        if self._means_the_same(*payloads):
            _bound(self._templates)
            self._templates[key] = template

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


def _common(received: bytes) -> bytes | None:
    """What a frame has in common with frames of other responses; None for a form that is not known."""
    start = _RESPONSE.match(received)
    return None if start is None else start[1] + start[2] + received[start.end() :]


def _of_other_response(received: bytes) -> bytes:
    """The same frame of another response."""
    return _RESPONSE.sub(_OTHER_RESPONSE, received, count=1)


def _bound(shapes: dict[bytes, Delta] | dict[tuple[bytes, bytes], Template] | set[object]) -> None:
    """Make room for one more."""
    if len(shapes) >= _MOST:
        shapes.clear()
