"""Token counts of a server that cannot be true: refused, reported, and in no figure."""

from __future__ import annotations

from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from reporter.render import console, json
from reporter.report import Tokens
from tests.reporter.conftest import BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

HUGE = 2**53 - 1
MOST_TOKENS = 10**8
MOST_HIDDEN_TOKENS = 2**20


def findings_about_tokens(report: Report) -> dict[str, str]:
    """The messages of findings about token counts, by code."""
    return {finding.code: finding.message for finding in report.findings if "token" in finding.code}


def test_counts_beyond_the_bytes_of_the_response_are_refused(a_run: NewRun) -> None:
    """Chunks are counted in their place; the finding names an example, and no figure has them."""
    run = a_run()
    for _ in range(3):
        run.answers(5, 6, 7, usage=(11, HUGE))
    report = run.ends().report()
    assert report.tokens == Tokens(33, 9, "chunks")
    assert findings_about_tokens(report)["token_counts_refused"].startswith(
        f"In 3 responses the server's token counts are impossible: {HUGE:,} output_tokens in {BYTES} "
        "bytes (request request 1)."
    )
    assert findings_about_tokens(report)["tokens_from_chunks"].startswith(
        "The counts of 3 requests were refused: each chunk"
    )
    assert "mixed_token_sources" not in findings_about_tokens(report)
    assert f"{HUGE:,}" in json.render(report)
    assert console.render(report)


def test_counts_above_the_limit_of_a_request_need_a_text(a_run: NewRun) -> None:
    """Of 64 tokens: 500 are refused for 60 characters, and are the server's own for 600, or for 8 choices."""
    run = a_run()
    run.settings["max_tokens"] = 64
    run.answers(5, 6, usage=(9, 500), content_chars=60, bytes=9000)
    run.answers(5, 6, usage=(9, 500), content_chars=600, bytes=9000)
    run.answers(5, 6, usage=(9, 500), content_chars=60, bytes=9000, choices=8)
    run.answers(5, 6, usage=(9, 64), content_chars=6, bytes=9000)
    report = run.ends().report()
    assert report.tokens.output == 2 + 500 + 500 + 64
    assert "500 output_tokens" in findings_about_tokens(report)["token_counts_refused"]


def test_refused_counts_are_not_counts_that_were_not_sent(a_run: NewRun) -> None:
    """Each is reported for itself."""
    report = (
        a_run().answers(5, 6).answers(5, 6, usage=(HUGE, HUGE)).answers(5, 6, usage=(9, 2)).ends().report()
    )
    assert report.tokens == Tokens(9, 6, "mixed")
    assert findings_about_tokens(report)["tokens_from_chunks"].startswith(
        "The server sent no token counts for 1 request and the counts of 1 request were refused: each"
    )
    assert findings_about_tokens(report)["tokens_unknown"].startswith(
        "1 of 3 requests have no input token count"
    )
    assert (
        f"{HUGE:,} output_tokens, {HUGE:,} input_tokens"
        in findings_about_tokens(report)["token_counts_refused"]
    )


ALLOWED: tuple[dict[str, Any], ...] = (
    {"usage": (1, BYTES)},
    {"usage": (1, 500), "reasoning_tokens": 400},
    {"usage": (1, 500), "issue": {"about": {"max_tokens": 500}}},
    {"usage": (MOST_TOKENS, 2)},
    {"usage": (1, 500), "bytes": 500},
)


def test_what_can_be_true_is_believed(a_run: NewRun) -> None:
    """A byte for each token, reasoning that is not sent, padding that the request allows."""
    run = a_run()
    for allowed in ALLOWED:
        run.answers(5, 6, **allowed)
    report = run.ends().report()
    output = sum(allowed["usage"][1] for allowed in ALLOWED)
    assert (report.tokens.output, report.tokens.source) == (output, "server_usage")
    assert findings_about_tokens(report).keys() == {"tokens_per_chunk"}


def test_the_limit_of_all_requests_allows_as_many(a_run: NewRun) -> None:
    """Logs of older versions do not have it with each request."""
    run = a_run().answers(5, 6, usage=(1, 500)).ends()
    run.settings["max_tokens"] = 500
    assert run.report().tokens.output == 500


def test_each_kind_of_count_is_refused(a_run: NewRun) -> None:
    """The view `samples` has which; the others of the request are believed."""
    run = a_run().answers(5, 6, usage=(MOST_TOKENS + 1, 2), reasoning_tokens=HUGE, cached_tokens=HUGE)
    report = run.ends().report()
    assert report.tokens == Tokens(None, 2, "server_usage")
    assert (
        f"{MOST_TOKENS + 1:,} input_tokens, {HUGE:,} reasoning_tokens, {HUGE:,} cached_tokens"
        in (findings_about_tokens(report)["token_counts_refused"])
    )


def is_output_count(tokens: int, reasoning: int | None, bytes_: int | None, limit: int | None) -> bool:
    """The rule of docs/metrics.md, in integers of any size."""
    hidden = max(0, min(reasoning or 0, MOST_HIDDEN_TOKENS))
    enough_bytes = bytes_ is None or tokens <= bytes_ + hidden
    return 0 <= tokens <= MOST_TOKENS and (enough_bytes or tokens <= (limit or 0))


def test_the_rules_hold_at_their_bounds() -> None:
    """For all that lies at a bound, on either side of it, or is not known."""
    bounds = (100, MOST_HIDDEN_TOKENS + 100, MOST_TOKENS)
    around = [-1, 0, *(bound + more for bound in bounds for more in (0, 1)), 2**63 - 1]
    reasoning_tokens = [None, -5, 1, MOST_HIDDEN_TOKENS, 2**63 - 1]
    cases = product(around, reasoning_tokens, [None, 100, 2**63 - 1], [None, 101])
    with duckdb.connect() as connection:
        connection.execute((files("reporter") / "sql" / "credible.sql").read_text())
        for case in cases:
            answer = connection.execute(
                "SELECT is_count($1), is_output_count($1::BIGINT, $2::BIGINT, $3::BIGINT, $4::BIGINT)", case
            ).fetchone()
            assert answer == (0 <= case[0] <= MOST_TOKENS, is_output_count(*case)), case


def test_totals_beyond_64_bits_are_a_damaged_log(a_run: NewRun) -> None:
    """What no server counts, but a crafted log has: numbers whose sum has no place in the report."""
    from recorder.errors import LogError

    run = a_run()
    for _ in range(3):
        run.answers(5, 6, usage=(1, 2), coalesced=2**62)
    with pytest.raises(LogError, match="damaged"):
        run.ends().report()
