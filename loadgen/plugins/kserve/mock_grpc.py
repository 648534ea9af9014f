"""The mock endpoint's service of KServe over gRPC: a text as a stream or in one piece."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from loadgen.mock_endpoint.ask import MockRequest, RefusedRequest
from loadgen.mock_endpoint.client_connection import NOW
from loadgen.mock_endpoint.token import joined, text_of
from loadgen.mock_endpoint.truth import Truth
from loadgen.plugins.kserve.grpc_status import HTTP_STATUS
from loadgen.plugins.kserve.messages import INFER, SERVICE, STREAM, message, tensors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadgen.driver.client.arrival import StampingSocket
    from loadgen.mock_endpoint.client_connection import RawRequest, Task
    from loadgen.mock_endpoint.routes import Doorkeeper
    from loadgen.mock_endpoint.script import PlannedResponse, Script
    from loadgen.plugins.kserve.mock_http2 import MockHttp2

_SECOND: Final = 1_000_000_000
_CODES: Final = {status: code for code, status in reversed([*enumerate(HTTP_STATUS.values())])}
CANCELLED: Final = "abort"
"""The finish reason of a scripted reply whose stream the server cancels after the last token."""


def http2(
    write: Callable[[bytes], None], take: Callable[[RawRequest], None], sock: StampingSocket
) -> MockHttp2:
    """The connection of a client that speaks HTTP/2; raise `OSError` where the extra is missing."""
    try:
        from loadgen.plugins.kserve.mock_http2 import MockHttp2
    except ModuleNotFoundError as error:
        raise ConnectionAbortedError(
            f"{error.name} is not installed: pip install 'llm-loadgen[grpc]'"
        ) from error
    return MockHttp2(write, take, sock)


def task(request: RawRequest, door: Doorkeeper, script: Script, tell: Callable[[Truth], None]) -> Task:
    """Answer a request: messages when tokens are due, or one message when the last token is due.

    Args:
        request: The request, with its stream.
        door: Checks the key.
        script: Plans the answer.
        tell: Takes the record of the request.
    """
    stream, method = request.stream, request.path.removeprefix(SERVICE)
    truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
    try:
        door.admit(request.header(b"authorization"))
        if (fixed := _FIXED.get(method)) is not None:
            yield NOW, stream.message(fixed().SerializeToString()) + stream.end()
        else:
            yield from _answer(request, script.answer(_ask(request, method, truth)), truth)
        truth.status = 200
        truth.outcome = "failed" if truth.finish_reason == CANCELLED else "completed"
    except RefusedRequest as refusal:
        truth.status, truth.outcome = refusal.status, "failed"
        yield NOW, stream.end(_CODES.get(refusal.status, _CODES[500]), refusal.message)
    finally:
        truth.done_ns = time.monotonic_ns()
        tell(truth)


def _answer(request: RawRequest, answer: PlannedResponse, truth: Truth) -> Task:
    stream, streams = request.stream, request.path.endswith(STREAM)
    begun_ns, dues = truth.received_ns, answer.dues_s(1)
    if answer.refusal is not None:
        yield begun_ns + int(answer.ttft_s * _SECOND), b""
        raise answer.refusal
    if streams:
        for due_s, text in zip(dues, answer.texts(1), strict=False):
            data = stream.message(_part(text_of(text)))
            truth.chunk_ns.append((yield begun_ns + int(due_s * _SECOND), data))
    else:
        yield (
            begun_ns + int(answer.last_due_s() * _SECOND),
            stream.message(_whole(text_of(joined(answer.tokens)))),
        )
    truth.tokens, truth.finish_reason = len(answer.tokens), answer.finish_reason
    yield NOW, stream.cancel() if answer.finish_reason == CANCELLED else stream.end()


def _ask(request: RawRequest, method: str, truth: Truth) -> MockRequest:
    """The request as tensors of `text_input` and `max_tokens`."""
    if method not in {INFER, STREAM}:
        raise RefusedRequest(501, f"there is no {method}")
    asked = message("ModelInferRequest").FromString(request.body)
    tensors = {each["name"]: each["data"] for each in _inputs(asked)}
    prompt, limit = "".join(tensors.get("text_input", ())), tensors.get("max_tokens")
    words = prompt.split()
    ask = MockRequest(
        model=asked.model_name,
        question=prompt,
        input_tokens=len(words),
        max_tokens=limit[0] if limit else None,
        stream=method == STREAM,
        include_usage=False,
        prompt=prompt,
    )
    truth.learn(ask, in_detail=True)
    return ask


def _inputs(asked: Any) -> Iterator[dict[str, Any]]:
    """The tensors of a request, which are read as those of a response are."""
    response = message("ModelInferResponse")(raw_output_contents=asked.raw_input_contents)
    response.outputs.extend(asked.inputs)
    yield from tensors_of(response)["outputs"]


def _whole(text: str) -> bytes:
    return bytes(_response(text).SerializeToString())


def _part(text: str) -> bytes:
    return bytes(message("ModelStreamInferResponse")(infer_response=_whole(text)).SerializeToString())


def _response(text: str) -> Any:
    response = message("ModelInferResponse")(model_name="mock", raw_output_contents=[_raw(text.encode())])
    response.outputs.add(name="text_output", datatype="BYTES", shape=[1, 1])
    return response


def _raw(element: bytes) -> bytes:
    return len(element).to_bytes(4, "little") + element


def _metadata() -> Any:
    described = message("ModelMetadataResponse")(name="mock", versions=["1"], platform="loadgen")
    for name, datatype in (("text_input", "BYTES"), ("max_tokens", "INT32")):
        described.inputs.add(name=name, datatype=datatype, shape=[-1, 1])
    described.outputs.add(name="text_output", datatype="BYTES", shape=[-1, 1])
    return described


_FIXED: Final[dict[str, Callable[[], Any]]] = {
    "ServerReady": lambda: message("ServerReadyResponse")(ready=True),
    "ModelMetadata": _metadata,
}
"""The methods whose answers are the same for all requests."""
