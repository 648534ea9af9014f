"""The start of a response: the status, and the body's framing by the headers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from loadgen.driver.client.body_format import EVENT_STREAM

_OK: Final = 200
_CACHE_SIZE: Final = 32


@dataclass(frozen=True, slots=True)
class Head:
    """The start of a response.

    Attributes:
        status: The HTTP status.
        fields: The header fields as they came; see `header`.
        ok: Whether the body is an answer, and not what the server says of an error.
        event_stream: Whether the body is server-sent events.
        encoding: How the body is compressed, be it for the way only; empty when it is not.
        chunked: Whether the body says itself where it ends.
        until_close: Whether only the end of the connection ends the body.
        media_type: The media type of the body, in lower case and without parameters.
    """

    status: int
    fields: tuple[tuple[bytes, bytes], ...]
    ok: bool
    event_stream: bool
    encoding: str
    chunked: bool
    until_close: bool
    media_type: str = ""

    def header(self, name: str) -> str | None:
        """The value of a header, of a repeated one the last; None where there is none.

        Args:
            name: In lower case.
        """
        wanted = name.encode()
        values = (value for field, value in reversed(self.fields) if field.lower() == wanted)
        return next((value.decode("latin-1") for value in values), None)


@lru_cache(_CACHE_SIZE)
def head(status: int, fields: tuple[tuple[bytes, bytes], ...]) -> Head:
    """Parse the header fields of a response; one server's fields are mostly constant within a second."""
    values = {name.lower(): value for name, value in fields}
    codings, further = values.get(b"transfer-encoding", b"").strip().lower(), ""
    chunked = codings == b"chunked"
    if codings and not chunked:
        listed = [coding.strip(" \t") for coding in codings.decode("latin-1").split(",")]
        further = ", ".join(coding for coding in listed if coding not in ("chunked", "identity", ""))
        chunked = "chunked" in listed
    encoding = values.get(b"content-encoding", b"").strip().lower().decode("latin-1")
    media_type = values.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    return Head(
        status,
        fields,
        ok=status == _OK,
        event_stream=media_type == EVENT_STREAM,
        encoding=further if encoding in ("", "identity") else encoding,
        chunked=chunked,
        until_close=b"content-length" not in values and not chunked,
        media_type=media_type,
    )
