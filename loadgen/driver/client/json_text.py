"""JSON as servers send it: what they cut in two included.

A character beyond the first 65,536 is two escapes in JSON, and a gateway that cuts texts by them, as those do
that think in UTF-16, sends the halves in two frames. That is a fault of its text, not of the protocol.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

_HIGH: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE: Final = re.compile(rb"%b%b|(%b|%b)|\\." % (_HIGH, _LOW, _HIGH, _LOW), re.DOTALL)
_NO_CHARACTER: Final = rb"\ufffd"


def loads(data: bytes) -> Any:
    """Decode JSON; a half of a character is read as U+FFFD, as in decoded bytes.

    Raises:
        orjson.JSONDecodeError: It is not JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if b"\\u" not in data:
            raise
        return orjson.loads(_ESCAPE.sub(lambda escape: _NO_CHARACTER if escape[1] else escape[0], data))
