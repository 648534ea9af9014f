"""Statements of servers on requests that contradict themselves, or the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run


def test_statements_that_contradict_themselves_are_findings(a_run: Callable[..., Run]) -> None:
    """A histogram that is not of the steps, more accepted than drafted, a time longer than the client's."""
    wrong = {
        "metrics": {
            "time_to_first_token_ms": 900.0,
            "queue_time_ms": 1.0,
            "generation_time_ms": 1.0,
            "speculative_decoding": {
                "num_spec_steps": 4,
                "num_draft_tokens": 5,
                "num_accepted_draft_tokens": 6,
                "acceptance_histogram": [1, 1, 1],
                "mean_acceptance_length": 9.0,
            },
        }
    }
    run = a_run().answers(50, 60, 70, server=wrong).stops(100).ends()
    report = run.report()
    messages = {finding.code: finding.message for finding in report.findings}
    for contradiction in ("histogram <> steps", "histogram <> accepted", "accepted > drafted", "length <>"):
        assert contradiction in messages["speculation_contradicts"]
    assert "server_time_too_long" in messages
    assert report.sections["speculation"].figures["acceptance_length"] == 2.5


def test_a_longer_decode_that_fits_into_the_latency_contradicts_nothing(a_run: Callable[..., Run]) -> None:
    """The server's TTFT and decode fit into the client's latency; only the server's decode is longer."""
    for decode_ms, is_too_long in ((28.0, False), (35.0, True)):
        times = {"metrics": {"time_to_first_token_ms": 40.0, "generation_time_ms": decode_ms}}
        run = a_run().answers(50, 60, 70, server=times).stops(100).ends()
        codes = {finding.code for finding in run.report().findings}
        assert ("server_time_too_long" in codes) == is_too_long
