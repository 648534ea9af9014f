"""The server's token counts, compared with what arrived: TPOT by the tokens seen, and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rulesets.definitions import Definitions
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

CODES = {
    *("several_choices", "reasoning_added", "usage_unequal", "usage_unlike_text", "reasoning_miscounted"),
    *("tokens_per_chunk", "tokens_held_back"),
}
ADDED = {"reasoning_tokens": 386, "reasoning_added": True}
CALLED = {"first_visible_ns": None, "finish_reason": "tool_calls"}


def findings(report: Report) -> dict[str, Any]:
    """The findings on token counts, by code."""
    return {finding.code: finding for finding in report.findings if finding.code in CODES}


@pytest.mark.parametrize(
    ("arrivals", "tokens", "more", "tpot_ms"),
    [
        # Each chunk a token, and one that ends the text.
        ((10, 20, 30), 3, {}, 10),
        ((10, 20, 30), 4, {}, 10),
        ((10, 20), 3, {"finish_ns": ns(30)}, 10),
        # At a limit, a token without a chunk came before the last one.
        ((10, 20, 40), 4, {"finish_reason": "length"}, 10),
        # Four tokens a chunk.
        ((10, 50, 90), 12, {}, 80 / 11),
        # A parser held tokens back after a text, until the finish reason or a last chunk.
        ((10, 20), 10, {"call_chars": 60, "finish_ns": ns(100), "finish_reason": "tool_calls"}, 10),
        ((10, 20, 100), 10, {"call_chars": 60, "finish_reason": "tool_calls"}, 10),
        # Before the first chunk too: each chunk a token, or more than can be known.
        ((90, 100, 110), 20, {**CALLED, "call_chars": 12, "finish_ns": ns(200)}, 10),
        ((90, 200), 20, {**CALLED, "call_chars": 60}, None),
        # Reasoning that is counted and not sent.
        ((200, 210, 220), 103, {"reasoning_tokens": 100}, 10),
        ((200, 210, 220), 104, {"reasoning_tokens": 100}, 10),
        ((10, 20, 30), 3, {"reasoning_tokens": 1, "reasoning_chars": 9}, 10),
        # Further choices, by the count of all or of the first.
        ((10, 20, 30), 6, {"choices": 2, "other_chunks": 3}, 10),
        ((10, 20, 30), 8, {"choices": 2, "other_chunks": 3}, 10),
        ((10, 20, 30), 3, {"choices": 2, "other_chunks": 3}, 10),
        ((10, 20, 30), 60, {"choices": 2, "other_chunks": 3}, None),
    ],
)
def test_tpot_divides_by_what_the_stream_shows(
    a_run: NewRun, arrivals: tuple[float, ...], tokens: int, more: dict[str, Any], tpot_ms: float | None
) -> None:
    """The time of a token between the stamps; none where their number is not known."""
    more = {"content_chars": 9, **more}
    report = a_run().answers(*arrivals, usage=(5, tokens), **more).ends(300).report()
    assert report.tokens.output == tokens
    assert (report.tpot_ms and report.tpot_ms.p50) == (tpot_ms and pytest.approx(tpot_ms))


def test_definitions_of_rulesets_divide_by_the_count(a_run: NewRun) -> None:
    """MLPerf's TPOT has all tokens of the server's count but one, whatever the stream shows."""
    run = a_run().answers(10, 20, 30, usage=(5, 5), call_chars=9, content_chars=9, finish_ns=ns(50)).ends()
    for denominator, tpot_ms in (("seen", 10), ("n_minus_1", 5), ("n", 4)):
        report = run.report(definitions=Definitions(tpot_denominator=denominator))  # type: ignore[arg-type]
        assert report.tpot_ms is not None
        assert report.tpot_ms.p50 == tpot_ms


@pytest.mark.parametrize(
    ("tokens", "more", "codes"),
    [
        (3, {"content_chars": 9, "total_tokens": 8}, set()),
        (3, {}, set()),  # a log of an older version
        (3, {"content_chars": 9, "total_tokens": 399}, {"usage_unequal"}),
        (387, {"content_chars": 1, **ADDED, "total_tokens": 392}, {"reasoning_added"}),
        (3, {"content_chars": 9, "choices": 2, "other_chunks": 0}, {"several_choices"}),
        (4, {"content_chars": 9, "reasoning_chars": 3000}, {"usage_unlike_text"}),
        (90, {"content_chars": 9}, {"usage_unlike_text", "tokens_per_chunk"}),
        (90, {"content_chars": 9, "reasoning_tokens": 86}, set()),
        (100, {"content_chars": 40, "reasoning_chars": 360, "reasoning_tokens": 90}, {"tokens_per_chunk"}),
        (4, {"content_chars": 2, "reasoning_chars": 18, "reasoning_tokens": 0}, set()),
        (60, {"content_chars": 9, "call_chars": 40, "finish_ns": ns(50)}, {"tokens_held_back"}),
    ],
)
def test_counts_that_do_not_go_with_the_answers(
    a_run: NewRun, tokens: int, more: dict[str, Any], codes: set[str]
) -> None:
    """Each contradiction has its finding, and counts that agree have none."""
    assert set(findings(a_run().answers(10, 20, 30, usage=(5, tokens), **more).ends().report())) == codes


def test_reasoning_tokens_that_are_far_off(a_run: NewRun) -> None:
    """By the share of the text; also where most responses report none."""
    run = a_run()
    for number in range(20):
        reported = {"reasoning_tokens": 8} if not number else {}
        run.answers(10, 20, 30, usage=(5, 96), content_chars=40, reasoning_chars=360, **reported)
    finding = findings(run.ends().report())["reasoning_miscounted"]
    assert finding.severity == "warning"
    assert (
        "8 of 1920 output tokens as reasoning (0.42 %), but 90.0 % of the text is reasoning"
        in finding.message
    )


def test_a_few_unusual_texts_have_no_finding(a_run: NewRun) -> None:
    """White space has few tokens for its characters."""
    run = a_run().answers(10, 20, usage=(5, 4), content_chars=400)
    for _ in range(30):
        run.answers(10, 20, usage=(5, 3), content_chars=9)
    assert findings(run.ends().report()) == {}
