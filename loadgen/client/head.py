"""The start of a response: its status and what its headers say of its body."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_OK: Final = 200
_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a response.

    Attributes:
        status: The HTTP status.
        headers: Header names in lower case; of a repeated one the last value.
        ok: Whether the body is an answer, and not what the server says of an error.
        event_stream: Whether the body is server-sent events.
        encoding: How the body is compressed, be it for the way only; empty when it is not.
        chunked: Whether the body says itself where it ends.
        until_close: Whether only the end of the connection ends the body.
    """

    status: int
    headers: Mapping[str, str]
    ok: bool
    event_stream: bool
    encoding: str
    chunked: bool
    until_close: bool


@lru_cache(_KEPT)
def head(status: int, fields: tuple[tuple[bytes, bytes], ...]) -> Head:
    """Read the header fields of a response; those of one server are the same for a second, mostly."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in fields}
    codings = [coding.strip() for coding in headers.get("transfer-encoding", "").lower().split(",")]
    further = ", ".join(coding for coding in codings if coding not in ("chunked", "identity", ""))
    encoding = headers.get("content-encoding", "").strip().lower()
    chunked = "chunked" in codings
    return Head(
        status,
        headers,
        ok=status == _OK,
        event_stream=headers.get("content-type", "").lower().startswith("text/event-stream"),
        encoding=further if encoding in ("", "identity") else encoding,
        chunked=chunked,
        until_close="content-length" not in headers and not chunked,
    )
