"""Reading a frame of a stream: the protocol's meaning, and the rules of all protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from loadgen.driver.client import server_json
from loadgen.driver.client.codec import Codec, Delta
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.whole_body import excerpt
from loadgen.driver.errors import MalformedResponseError, RequestFailedError

if TYPE_CHECKING:
    from collections.abc import MutableSet

    from loadgen.driver.client.sse import Frame

END: Final = Delta(done=True)
"""The meaning of `[DONE]`."""

_DONE: Final = b"[DONE]"
_IDLE: Final = frozenset({b"null", b'""', b"ping", b"[PING]", b"keepalive", b"keep-alive", b"heartbeat"})
_IDLE_NAMES: Final = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat"})


def read_frame(codec: Codec, frame: Frame, deviations: MutableSet[str]) -> Delta | None:
    """Read a frame; None for one that only keeps the connection alive.

    Args:
        codec: The protocol.
        frame: The frame.
        deviations: Takes what is not as protocol and JSON have it, and was read nevertheless.

    Raises:
        RequestFailedError: `malformed_frame`.
    """
    data, is_error = frame.data.strip(), frame.is_error
    if not is_error:
        if data == _DONE:
            return END
        if not data:
            return None
        if data in _IDLE:
            deviations.add(f"data: {data.decode()}")
            return None
    try:
        delta = codec.chunk(server_json.loads(data, deviations))
    except (orjson.JSONDecodeError, MalformedResponseError) as error:
        if frame.event in _IDLE_NAMES:
            return None
        # An `event: error` frame may carry plain text.
        if not is_error:
            raise RequestFailedError(
                Failure.MALFORMED_FRAME,
                f"a frame that the protocol does not know ({error}): {excerpt(data)}",
            ) from error
        delta = Delta()
    if is_error and delta.error is None:
        delta = delta._replace(error=excerpt(data) or "an error event without a text")
    return delta
