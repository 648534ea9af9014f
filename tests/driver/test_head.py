"""The start of a response, as its header fields tell it."""

from __future__ import annotations

import pytest

from loadgen.driver.client.head import head


@pytest.mark.parametrize(
    ("fields", "encoding", "chunked"),
    [
        ({}, "", False),
        ({b"Content-Encoding": b"identity"}, "", False),
        ({b"Content-Encoding": b"GZip"}, "gzip", False),
        ({b"Transfer-Encoding": b"chunked"}, "", True),
        ({b"Transfer-Encoding": b"gzip, chunked"}, "gzip", True),
        ({b"Transfer-Encoding": b"identity"}, "", False),
    ],
)
def test_how_a_body_is_coded(fields: dict[bytes, bytes], encoding: str, chunked: bool) -> None:  # noqa: FBT001 (a case)
    """For the way or for good: either way it is not what was asked for."""
    payload = head(200, tuple(fields.items()))
    assert (payload.encoding, payload.chunked, payload.until_close) == (encoding, chunked, not chunked)
