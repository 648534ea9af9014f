"""A body that is not a stream: an answer in one JSON text, or what an HTTP error says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from loadgen.driver.client import server_json
from loadgen.driver.client.codec import read_error
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.web_page import described, page_title
from loadgen.driver.errors import MalformedResponseError, RequestFailedError

if TYPE_CHECKING:
    from collections.abc import MutableSet

    from loadgen.driver.client.codec import Codec, Delta

_EXCERPT_BYTES: Final = 4096


def read_whole(codec: Codec, body: bytes, media_type: str, deviations: MutableSet[str]) -> Delta:
    """Read an answer in one JSON text.

    Args:
        codec: The protocol.
        body: The text.
        media_type: As the head names it, for a message.
        deviations: As for `read_frame`.

    Raises:
        RequestFailedError: `malformed_frame`.
    """
    try:
        return codec.whole(server_json.loads(body, deviations))
    except (orjson.JSONDecodeError, MalformedResponseError) as error:
        title = page_title(body)
        kind = media_type or "no media type"
        reason = f"a response that the protocol does not know, of {kind} ({error}): {excerpt(body)}"
        if title is not None:
            reason = f"the answer is {described(title)}, not an API response: is the URL right?"
        raise RequestFailedError(Failure.MALFORMED_FRAME, reason) from error


def error_text(body: bytes) -> str:
    """What the body of an HTTP error says: the error's own message, or the start of the body."""
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        title = page_title(body)
        return excerpt(body) if title is None else described(title)
    message = read_error(payload) if isinstance(payload, dict) else None
    return message or excerpt(body)


def excerpt(data: bytes) -> str:
    """The start of a piece of the body, for a message; it is shortened once no secret can be cut in two."""
    return data[:_EXCERPT_BYTES].decode(errors="replace")
