"""One JSON text of a server without a protocol and without streaming."""

from __future__ import annotations

from typing import Final

from loadgen.mock_endpoint.scenarios.dialects import plain_sse

path: Final = "/json"

PLACES: Final = plain_sse.PLACES
"""Where a client finds what."""

opening = plain_sse.opening
events = plain_sse.events
ending = plain_sse.ending
error = plain_sse.error
whole = plain_sse.whole
