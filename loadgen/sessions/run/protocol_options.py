"""The options of a protocol, checked: the codec, and the required headers."""

from __future__ import annotations

import re
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.client.server_json import place
from loadgen.sessions.environment import package_version
from loadgen.sessions.errors import UsageError
from loadgen.sessions.secrets import lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.endpoint_options import EndpointSettings

_PATH: Final = re.compile(r"/[!-\"$-~]*")


def protocol_of(settings: EndpointSettings) -> str:
    """The protocol's name for the log: for a preset, the name of the preset's protocol."""
    return protocol_entry(settings.protocol).preset_of or settings.protocol


def options_of(settings: EndpointSettings) -> dict[str, Any]:
    """The options of a protocol, with defaults, as JSON values: enough to repeat the run."""
    entry = protocol_entry(settings.protocol)
    if entry.inputs:
        vectors = {"encoding": settings.encoding, "dimensions": settings.dimensions}
        return {name: value for name, value in vectors.items() if value is not None}
    if not (entry.described or entry.preset_of):
        return {}
    from loadgen.driver.client.plain_json import PlainJson

    options = {
        "path": _path(settings.path),
        "body": _body(settings.body),
        "text_at": _place("--text-at", settings.text_at),
        "tokens_at": _place("--tokens-at", settings.tokens_at),
        "finish_at": _place("--finish-at", settings.finish_at),
        "cumulative": settings.cumulative or None,
    }
    set_options = {name: value for name, value in options.items() if value is not None}
    codec = codec_of(settings.protocol, set_options)
    assert isinstance(codec, PlainJson)  # noqa: S101 (that is what it is to be described)
    return asdict(codec)


def headers_of(settings: EndpointSettings) -> Mapping[str, str]:
    """The headers that every request carries: ours, the protocol's, and the user's, which go first.

    A header of ours that the user gives without a value is left out.
    """
    key = lines("--api-key", settings.api_key)[0] if settings.api_key else None
    codec = codec_of(protocol_of(settings), options_of(settings))
    headers = {"User-Agent": f"llm-loadgen/{package_version('llm-loadgen')}", **codec.headers(key)}
    ours = {name.lower(): name for name in headers}
    for header in chain.from_iterable(lines("--header", argument) for argument in settings.header):
        name, colon, value = (part.strip() for part in header.partition(":"))
        if not colon:
            # The text may be a secret that lacks its name: it is not repeated.
            raise UsageError("--header: write 'Name: value', a header lacks the colon")
        own = ours.get(name.lower())
        if own is not None:
            headers.pop(own, None)
        if value or own is None:
            headers[name] = value
    return headers


def _path(path: str | None) -> str | None:
    if path is not None and not _PATH.fullmatch(path):
        raise UsageError(
            f"--path {path!r}: write what follows the host, in visible ASCII, as in /generate_stream"
        )
    return path


def _body(text: str | None) -> Mapping[str, Any] | None:
    if text is None:
        return None
    try:
        template = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--body is not JSON: {error}") from error
    if not isinstance(template, dict):
        raise UsageError("""--body must be a JSON object, e.g. '{"inputs": "{prompt}"}'""")
    from loadgen.driver.client.plain_json import check

    try:
        check(template)
    except ValueError as error:
        raise UsageError(f"--body {error}") from error
    return template


def _place(option: str, written: str | None) -> str | None:
    try:
        if written is not None:
            place(written)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error
    return written
