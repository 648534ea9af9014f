"""The payloads of events: of a request that was sent, and of a response, whole or partial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.driver.client.arrival_bounds import coalesced, gaps_us
from loadgen.driver.client.endpoint import attempt_id, resent_id
from workloads.thinking import answer_start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.parsed_response import ParsedResponse


def sent_payload(exchange: Exchange, sample_uuid: str, attempt: int, span_id: str | None) -> dict[str, Any]:
    """The facts of a request that was just sent."""
    setup = exchange.setup
    data: dict[str, Any] = {} if span_id is None else {"span_id": span_id}
    request_id = attempt_id(sample_uuid, attempt)
    if setup is not None and setup.retried:
        request_id = resent_id(request_id)
    if request_id != sample_uuid:
        data["request_id"] = request_id
    if setup is not None:
        data["reused"] = setup.reused
        if setup.retried:
            data["retried"] = True
        if setup.unasked:
            data["unasked"] = setup.unasked
        if not setup.reused:
            data |= {"dns_ms": setup.dns_ms, "connect_ms": setup.connect_ms, "tls_ms": setup.tls_ms}
    if exchange.sent_high_ns is not None:
        data["sent_high_ns"] = exchange.sent_high_ns
    return data


def response_payload(exchange: Exchange) -> dict[str, Any]:
    """Everything that is known of an exchange."""
    answer, stream, response = exchange.stream.answer, exchange.stream, exchange.response
    usage, arrivals = answer.usage, answer.arrivals
    first_ns, last_ns = (arrivals[0], arrivals[-1]) if arrivals else (None, None)
    data: dict[str, Any] = {
        "status": response.status if response else None,
        "stream": stream.streamed if response else None,
        "first_byte_ns": exchange.first_byte_ns,
        "first_token_ns": first_ns,
        "first_output_ns": answer.first_output_ns,
        "first_visible_ns": answer.first_visible_ns,
        "last_token_ns": last_ns,
        "first_chunk": answer.first_chunk,
        "chunks": len(arrivals),
        "silent_chunks": len(answer.silent_ns),
        "silent_tokens": answer.silent_tokens,
        "reads": stream.reads,
        "coalesced": coalesced(arrivals),
        "bytes": stream.bytes,
        "finish_reason": answer.finish_reason,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.generated_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
        "total_tokens": usage.total_tokens,
    }
    if usage.media_tokens:
        data["media_tokens"] = usage.media_tokens
    data |= _unusual(answer)
    if answer.statements or (response and response.stated):
        data["server"] = {**(answer.statements or {}), "headers": response.stated if response else {}}
    data |= exchange.upload
    if stream.deviations:
        data["deviations"] = ", ".join(sorted(stream.deviations))
    if not answer.empty:
        output, reasoning, calls = "".join(answer.content), "".join(answer.reasoning), answer.tool_calls
        data["texts"] = {"output": output, "reasoning": reasoning or None, "tool_calls": calls or None}
        data["content_chars"] = len(output)
        if tagged := answer_start(output):
            data["tagged_chars"] = tagged
        if reasoning:
            data["reasoning_chars"] = len(reasoning)
        if calls:
            data["call_chars"] = sum(map(_characters, calls))
    if first_ns is not None and exchange.sent_ns is not None:
        data["chunk_gaps_us"] = gaps_us(arrivals, exchange.sent_ns)
    if exchange.first_byte_low_ns is not None or answer.token_low_ns or answer.silent_low_ns:
        data |= _lows(exchange)
    return data


def _unusual(answer: ParsedResponse) -> dict[str, Any]:
    """Members that few responses have."""
    data: dict[str, Any] = {}
    if answer.usage.excludes_reasoning:
        data["reasoning_added"] = True
    if answer.finish_ns is not None and answer.token_ns and answer.finish_ns > answer.token_ns[-1]:
        data["finish_ns"] = answer.finish_ns
    data |= answer.facts or {}
    if answer.choices > 1:
        data |= {"choices": answer.choices, "other_chunks": answer.other_chunks}
    return data


def _characters(call: Mapping[str, Any]) -> int:
    """Characters of a call's name and arguments."""
    function = call.get("function") or {}
    texts = (function.get("name"), function.get("arguments"))
    return sum(len(text) for text in texts if isinstance(text, str))


def _lows(exchange: Exchange) -> dict[str, Any]:
    """The lower bounds of stamps that may be too late."""
    answer, sent_ns = exchange.stream.answer, exchange.sent_ns or 0
    lows = {place: max(low_ns, sent_ns) for place, low_ns in answer.lows.items()}
    moments = {"first_byte_low_ns": exchange.first_byte_low_ns}
    if lows:
        arrivals = answer.arrivals
        by_stamp = {arrivals[place]: low_ns for place, low_ns in reversed(lows.items())}
        moments |= {
            "first_token_low_ns": lows.get(0),
            "first_output_low_ns": by_stamp.get(answer.first_output_ns or 0),
            "first_visible_low_ns": by_stamp.get(answer.first_visible_ns or 0),
            "last_token_low_ns": lows.get(len(arrivals) - 1),
        }
    data: dict[str, Any] = {
        name: max(low_ns, sent_ns) for name, low_ns in moments.items() if low_ns is not None
    }
    return data | ({"late_chunks": answer.late_chunks(lows)} if lows else {})
