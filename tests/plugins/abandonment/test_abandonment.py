"""Clients that leave early: which requests, and when; against the server's record of what it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen import perf
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.abandonment.abandonment import Abandonment
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@given(st.integers(1, 100), st.sampled_from(["first-token", "tokens:50", "2s", "150ms"]))
def test_a_share_and_a_moment_are_read(share: int, when: str) -> None:
    """A share is in percent or a number; the moment is a token, a number of them, or a time."""
    read = Abandonment.read(f"{share}%:after={when}")
    assert read == Abandonment.read(f"{share / 100}:after={when}")
    assert (read.after, read.amount) == {
        "first-token": ("first-token", 1),
        "tokens:50": ("tokens", 50),
        "2s": ("time", 2),
        "150ms": ("time", 0.15),
    }[when]


@pytest.mark.parametrize(
    "text",
    ["5%", "0%:after=2s", "101%:after=2s", "5%:after=", "5%:after=tokens:0", "5%:after=soon", ":after=2s"],
)
def test_another_form_is_refused_with_the_form(text: str) -> None:
    """The message says what to type."""
    with pytest.raises(UsageError, match="write SHARE:after=WHEN"):
        Abandonment.read(text)


@settings(max_examples=5)
@given(st.floats(0.05, 0.95), st.integers(0, 1000))
def test_the_share_holds_and_is_repeatable(share: float, seed: int) -> None:
    """The choice depends on seed, prompt and turn alone."""
    abandonment = Abandonment(share, "first-token")
    chosen = [abandonment.chooses(seed, prompt, 0, 0) for prompt in range(1000)]
    assert chosen == [abandonment.chooses(seed, prompt, 0, 0) for prompt in range(1000)]
    assert abs(sum(chosen) / 1000 - share) < 0.1


def test_clients_leave_and_the_server_goes_on(tmp_path: Path) -> None:
    """Requests that were left count in no latency; what the server generated after that is its own record."""
    with start_mock(ttft="5ms", itl="3ms", tokens="80", overrun="60s") as mock:
        run = perf(
            url=mock.url,
            model="mock",
            concurrency=4,
            requests=24,
            warmup="2",
            abandon="50%:after=tokens:6",
            server_metrics="auto",
            out=tmp_path / "run",
            on_invalid="warn",
        )
        truth = {each.request_id: each for each in mock.truth(requests=26)}
    report = run.report()
    left: dict[str, int] = dict(
        run.sql("SELECT sample_uuid, chunks FROM samples WHERE status = 'left'").fetchall()
    )
    assert left
    assert {uuid for uuid, each in truth.items() if each.outcome == "aborted"} == left.keys()
    assert all(chunks >= 6 for chunks in left.values())
    counts = report.counts
    assert (counts.left_early, counts.failed, counts.cancelled) == (len(left), 0, 0)
    assert counts.completed + counts.left_early == counts.issued == 24
    assert report.ttft_ms is not None
    assert report.latency_ms is not None
    assert report.ttft_ms.count == report.latency_ms.count == counts.completed
    assert report.validity.valid

    figures = report.sections["abandonment"].figures
    assert figures["abandoned"] == len(left)
    assert figures["received_chunks"] == sum(left.values())
    # 80 tokens less what the client has: the server's mock goes on to the end.
    assert figures["generated_after_tokens"] == 80 * len(left) - sum(left.values())
    assert figures["running_at_end"] == len(left)
    assert "abandoned_still_running" in {finding.code for finding in report.findings}
    settled = run.sql("SELECT bool_and(settled) FROM requests").fetchall()
    assert settled == [(True,)]
