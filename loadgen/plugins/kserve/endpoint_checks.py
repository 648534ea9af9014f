"""What a server of KServe v2 or Triton says of itself, over HTTP or gRPC, and which protocols it answers."""

from __future__ import annotations

from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.body_format import error_text
from loadgen.driver.client.endpoint import JSON, Request
from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Prober

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from loadgen.driver.checked_endpoint import CheckedEndpoint
    from loadgen.driver.client.transport import Transport

_PROTOCOLS: Final = {"http": ("triton", "kserve"), "grpc": ("triton-grpc", "kserve-grpc")}


async def kserve_checks(endpoint: CheckedEndpoint) -> AsyncIterator[tuple[str, bool, str]]:
    """Ask for readiness, for the model's tensors, and in each protocol of the URL's kind.

    Yields:
        The name of a check, whether it passed, and the details.
    """
    scheme = protocol_entry(endpoint.protocol).scheme
    if scheme == "grpc":
        from loadgen.plugins.kserve.messages import SERVICE, message

        name = message("ModelMetadataRequest")(name=endpoint.generation.model).SerializeToString()
        transport, ready = endpoint.transport, ("POST", f"{SERVICE}ServerReady", b"")
        described = "POST", f"{SERVICE}ModelMetadata", name
    else:
        transport = endpoint.opened(replace(endpoint.transport.endpoint, prefix=""))
        ready = "GET", "/v2/health/ready", b""
        described = "GET", endpoint.transport.endpoint.prefix, b""
    try:
        passed, answer = await _asked(endpoint, transport, *ready)
        passed = passed and answer.get("ready", True)
        yield "ready", passed, f"{ready[1]} says so" if passed else f"{ready[1]}: {answer}"
        passed, answer = await _asked(endpoint, transport, *described)
        yield "tensors", passed, _tensors(answer) if passed else f"{described[1]}: {answer}"
    except UnreachableError as error:
        yield "ready", False, f"{ready[1]}: {error}"
        return
    finally:
        if transport is not endpoint.transport:
            await transport.close()
    answers = [name for name in _PROTOCOLS[scheme] if await _answers(endpoint, name)]
    yield (
        "protocols",
        bool(answers),
        ", ".join(answers) or f"none of {', '.join(_PROTOCOLS[scheme])} is answered",
    )


async def _asked(
    endpoint: CheckedEndpoint, transport: Transport, method: str, path: str, body: bytes
) -> tuple[bool, Any]:
    """Whether a request has status 200, and the members of the JSON, else the message.

    Raises:
        UnreachableError: No response came.
    """
    exchange = endpoint.exchange()
    content_type = getattr(endpoint.codec, "content_type", JSON)
    await transport.send(Request(method, path, token_hex(12), body, content_type=content_type), exchange)
    answered = exchange.stream.body()
    if exchange.response is None:
        raise UnreachableError(exchange.message)
    if not exchange.response.ok:
        return False, transport.endpoint.redact(exchange.message or error_text(answered))
    try:
        answer = orjson.loads(answered)
    except orjson.JSONDecodeError:
        answer = {}
    return True, answer if isinstance(answer, dict) else {}


async def _answers(endpoint: CheckedEndpoint, name: str) -> bool:
    """Whether a short question in a protocol gets an answer."""
    codec = codec_of(name, {})
    prober = Prober(endpoint.transport, codec, endpoint.generation)
    try:
        return (await prober.completion()).failure is None
    except (RejectedError, UnreachableError):
        return False


def _tensors(metadata: dict[str, Any]) -> str:
    """The inputs and outputs of a model, in words."""
    sides = []
    for side in ("inputs", "outputs"):
        tensors = [each for each in metadata.get(side) or () if isinstance(each, dict)]
        written = (f"{each.get('name')} {each.get('datatype')} {_shape(each)}" for each in tensors)
        sides.append(f"{side} {', '.join(written) or 'unknown'}")
    return "; ".join(sides)


def _shape(tensor: dict[str, Any]) -> str:
    return f"[{', '.join(map(str, tensor.get('shape') or ()))}]"
