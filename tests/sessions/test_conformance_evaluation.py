"""How a row is judged: what passes, what fails, and what is only a matter of time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.truth import PlayedTruth
from loadgen.plugins.selftest.measured import LoggedRequest
from loadgen.plugins.selftest.row_result import closest, evaluate
from loadgen.plugins.selftest.selftest_row import ConformanceRow

MS = 1_000_000
START_NS = 7_000 * MS
OUTPUT = "".join(f" w{number}" for number in range(16))
PLAIN = ConformanceRow(SCENARIOS["plain"], "chat", "native")
SENT_NS = [START_NS + (20 + 5 * number) * MS for number in range(16)]
RIGHT = LoggedRequest(
    prompt_id=0,
    sample_uuid="0",
    status="completed",
    error=None,
    error_message=None,
    ttft_ms=20.0,
    ttfo_ms=20.0,
    ttfv_ms=20.0,
    tpot_ms=5.0,
    last_token_ms=95.0,
    answer_ms=95.1,
    output_tokens=16,
    token_source="server_usage",  # noqa: S106 (no secret, but who counts)
    chunks=16,
    silent_chunks=0,
    streamed=True,
    output=OUTPUT,
    reasoning=None,
    arguments=None,
    retry_after_s=None,
    unlawful=(),
)


def truths(count: int = 6) -> dict[str | None, Any]:
    """What the server knows of `count` requests."""
    return {
        f"{number}": PlayedTruth(
            f"{number}", "/", START_NS, 0, SENT_NS, done_ns=START_NS + 95 * MS, tokens=16, scenario="plain"
        )
        for number in range(count)
    }


def asked(*changes: dict[str, Any], count: int = 6) -> list[LoggedRequest]:
    """`count` requests as the client recorded them: the first ones with these changes."""
    made = [*changes, *({} for _ in range(count - len(changes)))]
    return [replace(RIGHT, sample_uuid=f"{number}", **change) for number, change in enumerate(made)]


def test_what_is_right_passes() -> None:
    """Six requests, all alike."""
    judged = evaluate(PLAIN, asked(), truths())
    assert (judged.passed, judged.misses, judged.tokens, judged.seen) == (True, (), (16,), {"completed": 6})
    assert (judged.true.ttft, judged.true.tpot, judged.measured.ttft) == (20, 5, 20)


@pytest.mark.parametrize(
    ("change", "miss"),
    [
        ({"output_tokens": 17}, "tokens: 17, not 16"),
        ({"token_source": "chunks"}, "token source: chunks, not server_usage"),
        ({"chunks": 15}, "chunks: 15, not 16"),
        ({"silent_chunks": 1}, "silent chunks: 1, not 0"),
        ({"output": "x"}, f"output: x, not {OUTPUT[:60]}"),
        ({"reasoning": "hm"}, "reasoning: hm, not None"),
        ({"streamed": False}, "streamed: False, not True"),
        ({"unlawful": ("stamps_out_of_order",)}, "stamps_out_of_order"),
        ({"status": "failed", "error": "reset", "error_message": "gone"}, "reset (gone), not completed"),
        ({"ttfv_ms": None}, "ttfv: 1 of 6 requests have none"),
        (
            {"is_plain": True, "payload": {"bytes": 9}},
            "compiled code and Python log other values of bytes",
        ),
    ],
)
def test_one_request_that_is_wrong_is_enough(change: dict[str, Any], miss: str) -> None:
    """And it is not asked again."""
    judged = evaluate(PLAIN, asked(change), truths())
    assert any(mismatch.what.startswith(miss) for mismatch in judged.misses), judged.misses
    assert not judged.late


def test_a_request_too_few() -> None:
    """What is not in the log fails too."""
    judged = evaluate(PLAIN, asked(count=5), truths())
    assert [miss.what for miss in judged.misses] == ["5 requests in the log, 6 were asked"]
    assert not evaluate(PLAIN, [], {}).passed


@pytest.mark.parametrize(
    ("field", "right", "off", "within"),
    [("ttft_ms", 20, 2.1, 1.9), ("last_token_ms", 95, -2.1, -1.9), ("tpot_ms", 5, 0.28, 0.26)],
)
def test_times_have_a_tolerance(field: str, right: float, off: float, within: float) -> None:
    """It applies to the median; after a miss a client may try again, and then the closest request counts."""
    late = evaluate(PLAIN, asked(*[{field: right + off}] * 6), truths())
    assert (late.passed, late.late) == (False, True)
    assert evaluate(PLAIN, asked(*[{field: right + within}] * 6), truths()).passed
    assert evaluate(PLAIN, asked(*[{field: right + 50 * off}] * 2), truths()).passed
    many = asked(*[{field: right + off}] * 5)
    assert evaluate(PLAIN, many, truths()).late
    assert evaluate(PLAIN, many, truths(), closest).passed
    assert evaluate(PLAIN, asked(*[{field: right + off}] * 6), truths(), closest).late


def test_failures() -> None:
    """The name, what the message says and must not say, when to come back, and how much had come before."""
    row = ConformanceRow(SCENARIOS["http_429"], "chat", "native")
    failed = dict.fromkeys(("ttft_ms", "ttfo_ms", "ttfv_ms", "tpot_ms", "last_token_ms", "answer_ms"))
    failed |= {"output_tokens": None, "chunks": 0, "output": "", "streamed": None, "token_source": None}
    failed |= {"status": "failed", "error": "http_429", "error_message": "slow down", "retry_after_s": 7.0}
    truth = {
        f"{number}": PlayedTruth(f"{number}", "/", START_NS, done_ns=START_NS, scenario="http_429")
        for number in range(2)
    }
    assert evaluate(row, asked(failed, failed, count=2), truth).misses == ()
    for change, what in (
        ({"retry_after_s": None}, "Retry-After was read as None"),
        ({"error_message": "no"}, "the message is 'no', without 'slow down'"),
        ({"error_message": f"slow down {KEY}"}, "the message is"),
        ({"error": "http_503"}, "http_503 (slow down), not http_429"),
    ):
        judged = evaluate(row, asked(failed | change, failed, count=2), truth)
        assert [miss.what[: len(what)] for miss in judged.misses] == [what]
        assert not judged.late


def test_what_depends_on_who_comes_first_is_worth_another_try() -> None:
    """A deadline of ours, or a connection that is closed between requests."""
    reset = {"status": "failed", "error": "reset", "error_message": ""}
    for name, worth in (("closes_when_idle", True), ("stall_after_done", True), ("crlf", False)):
        row = ConformanceRow(SCENARIOS[name], "chat", "native")
        judged = evaluate(row, asked(reset, count=row.requests), truths(row.requests))
        assert (judged.passed, judged.late) == (False, worth)
