"""What an endpoint can do of vectors and scores: batches, encodings, dimensions, and other protocols."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client.endpoint import Request, endpoint
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.requests.attempt import attempt_request
from loadgen.driver.requests.refused_members import RefusedMembers
from loadgen.plugins.vectors.vector_sample import VectorSample
from workloads.registry import manifests

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from loadgen.driver.checked_endpoint import CheckedEndpoint
    from loadgen.driver.client.codec import Generation
    from loadgen.driver.client.transport import Transport

    Line = tuple[str, bool, str]
    """A check, whether the endpoint passes, and details."""

_DIMENSIONS: Final = 16
_TWO: Final = VectorSample(index=-1, inputs=("A short text.", "Another text."), query="Which text is short?")


async def vector_checks(checked: CheckedEndpoint) -> AsyncIterator[Line]:
    """Check an endpoint that has answered one input.

    Yields:
        A check, whether it passed, and details.
    """
    name, transport, generation = checked.protocol, checked.transport, checked.generation
    facts, failure, counted = await _asked(name, {}, transport, generation)
    yield "usage", *_counting(counted)
    yield "batches", failure is None, failure or f"2 inputs in a request{_size(facts)}"
    codec: Any = codec_of(name, {})
    for encoding in codec.encodings:
        _, failure, _ = await _asked(name, {"encoding": encoding}, transport, generation)
        yield "encoding", failure is None, failure or encoding
    if codec.takes_dimensions:
        facts, failure, _ = await _asked(name, {"dimensions": _DIMENSIONS}, transport, generation)
        made = facts.get("dimensions")
        if failure is None and made != _DIMENSIONS:
            failure = f"{_DIMENSIONS} asked for, and vectors have {made}"
        yield "dimensions", failure is None, failure or f"vectors of the dimension asked for, {_DIMENSIONS}"
    answers = {each: each == name or await _answers(each, checked) for each in _protocols()}
    answering = ", ".join(each for each, is_answered in answers.items() if is_answered)
    silent = ", ".join(each for each, is_answered in answers.items() if not is_answered)
    yield "protocols", True, f"{answering}{f'; not {silent}' if silent else ''}"


async def vectors_check(checked: CheckedEndpoint) -> tuple[bool, str]:
    """Ask an endpoint of texts in each protocol of vectors and scores.

    Returns:
        True, and the protocols that it answers.
    """
    names = [name for name in _protocols() if await _answers(name, checked)]
    return True, f"answers --protocol {', '.join(names)}" if names else "no vectors or scores of this model"


def _protocols() -> list[str]:
    own = next(plugin for plugin in manifests() if plugin.name == "vectors")
    return [entry.name for entry in own.entries if entry.kind == "protocols"]


async def _answers(name: str, checked: CheckedEndpoint) -> bool:
    """Whether an endpoint answers in a protocol, whose paths may begin elsewhere."""
    base, rooted = checked.transport.endpoint, protocol_entry(name).rooted
    path = base.prefix.removesuffix("/v1")
    if rooted and path:
        return False  # the paths of such a protocol begin at the root of the host
    url = f"{base.origin}{path}{f'?{base.query}' if base.query else ''}"
    place = endpoint(url, base.headers, verify=base.verify, rooted=rooted)
    other = checked.opened(place)
    try:
        _, failure, _ = await _asked(name, {}, other, checked.generation)
    finally:
        await other.close()
    return failure is None


async def _asked(
    name: str, options: Mapping[str, Any], transport: Transport, generation: Generation
) -> tuple[Mapping[str, Any], str | None, int | None]:
    """Send two inputs: the facts of the response, the failure, and the input tokens by the server's count."""
    codec: Any = codec_of(name, options)
    body = orjson.dumps(codec.request(_TWO, generation))
    refused = RefusedMembers(generation, lambda _: None)
    while True:
        exchange = Exchange(ResponseStream(codec), on_sent=lambda _: None, on_first_token=lambda _: None)
        exchange.stream.reader = codec.reader(_TWO)
        error = await attempt_request(transport, Request("POST", codec.path, token_hex(12), body), exchange)
        member = error and refused.refused_in(body, error.failure, exchange.stream.body())
        if not member:
            break
        body = refused.without(body, member)
    answer = exchange.stream.answer
    failure = None if error is None else transport.endpoint.redact(str(error))
    return (answer.facts or {}).get("results", {}), failure, answer.usage.input_tokens


def _counting(tokens: int | None) -> tuple[bool, str]:
    """Whether the server counts tokens of the two inputs, not characters, as Infinity does by default."""
    if tokens is None:
        return False, "no usage: --tokenizer counts the input tokens"
    least = sum(map(len, _TWO.inputs))
    if tokens >= least:
        return False, (
            f"{tokens} input tokens for texts of {least} characters: the server counts characters "
            "(Infinity: --lengths-via-tokenize)"
        )
    return True, "the server counts its input tokens"


def _size(facts: Mapping[str, Any]) -> str:
    dimensions = facts.get("dimensions")
    return "" if dimensions is None else f", vectors of {dimensions} dimensions"
