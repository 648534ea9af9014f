"""The paths of speech and images that an endpoint has, by an empty request that costs nothing."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.protocols import codec_of

if TYPE_CHECKING:
    from loadgen.driver.checked_endpoint import CheckedEndpoint

_PROTOCOLS: Final = ("transcription", "translation", "speech", "image-generation")
# `transformers serve` has 500 for a form without a file.
_REFUSED: Final = (
    *(HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY),
    HTTPStatus.INTERNAL_SERVER_ERROR,
)


async def speech_check(endpoint: CheckedEndpoint) -> tuple[bool, str]:
    """Send an empty request to each path.

    Returns:
        True, and the protocols whose path refuses such a request for its contents, unlike an unknown path.
    """
    refused = {*_REFUSED} - {await endpoint.status_of("/no-such-path", b"{}")}
    names = [
        name for name in _PROTOCOLS if await endpoint.status_of(codec_of(name, {}).path, b"{}") in refused
    ]
    if not names:
        return True, "no path of speech or image generation"
    return True, f"paths of --protocol {', '.join(names)}"
