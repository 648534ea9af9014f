"""Responses in an unusual form: what the report says of them, and what its figures count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter import Report
    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


SHAPES = {
    *("not_streamed", "silent_chunks", "usage_contradicted", "unasked_responses", "unended_responses"),
    *("answers_filtered", "answers_aborted", "finish_reasons_unknown", "protocol_deviations"),
}


def findings(report: Report) -> dict[str, Any]:
    """The findings about the form of the responses, by code."""
    return {finding.code: finding for finding in report.findings if finding.code in SHAPES}


def silent(a_run: NewRun, **rules: int) -> Report:
    """A run with requests of three silent chunks each, by whether these are tokens, and one without any."""
    run = a_run().answers(20, 25, 30, usage=(5, 3))
    for rule, requests in rules.items():
        for _ in range(requests):
            run.answers(20, 25, 30, usage=(5, 3), silent_chunks=3, silent_tokens=rule == "tokens")
    return run.ends().report()


@pytest.mark.slow
def test_no_silence_no_word(a_run: NewRun) -> None:
    """Nor where a log of an older version says nothing of it."""
    assert findings(silent(a_run)) == {}
    run = a_run().answers(20, 30, silent_chunks=0, silent_tokens=False)
    assert findings(run.ends().report()) == {}


@pytest.mark.slow
def test_the_finding_names_the_rule_that_was_used(a_run: NewRun) -> None:
    """For silent chunks that are tokens, for those that are not, and for both."""
    both = findings(silent(a_run, tokens=2, nothing=1))["silent_chunks"]
    assert both.severity == "info"
    assert both.message.startswith("9 chunks had an empty content.")
    assert "In 2 requests empty chunks count as tokens" in both.message
    assert "In 1 request empty chunks do not count" in both.message
    assert "not counted" not in findings(silent(a_run, tokens=1))["silent_chunks"].message
    assert "are counted" not in findings(silent(a_run, nothing=1))["silent_chunks"].message


@pytest.mark.parametrize("asked", [True, False, None])
def test_json_where_a_stream_was_asked_for(a_run: NewRun, asked: bool | None) -> None:  # noqa: FBT001 (a case)
    """A warning with the share; none where no stream was wanted."""
    run = a_run().answers(20, 30, usage=(5, 2)).answers(complete=40, usage=(5, 2), stream=False)
    run.settings["stream"] = asked
    report = run.ends().report()
    assert report.counts.completed == 2
    assert report.ttft_ms is not None
    assert report.ttft_ms.count == 1
    assert list(findings(report)) == ["not_streamed"] * bool(asked)
    if asked:
        finding = findings(report)["not_streamed"]
        assert finding.severity == "warning"
        assert finding.message.startswith("1 of 2 responses were one JSON text")


def test_what_is_seen_first_has_its_own_figure(a_run: NewRun) -> None:
    """Of the requests that showed something; a log of an older version has none."""
    visible_ns = 5_000_000_000_030_000_000
    run = a_run().answers(20, 30, first_visible_ns=visible_ns).answers(20, 30, first_visible_ns=None)
    report = run.ends().report()
    assert report.ttfv_ms is not None
    assert (report.ttfv_ms.count, report.ttfv_ms.p50) == (1, 30)
    assert report.ttft_ms is not None
    assert report.ttft_ms.count == 2


@pytest.mark.slow
def test_totals_of_reasoning_and_of_the_cache(a_run: NewRun) -> None:
    """The server's own counts, and None where it reports none."""
    run = a_run().answers(20, 30, usage=(9, 7), reasoning_tokens=5, cached_tokens=4).answers(20, usage=(9, 7))
    report = run.ends().report()
    tokens = report.tokens
    assert (tokens.output, tokens.reasoning, tokens.input, tokens.cached) == (14, 5, 18, 4)
    shown: list[str] = []
    report.display(shown.append)
    assert "14 output, 5 of it reasoning, 18 input, 4 of it cached" in shown[0]
    bare = a_run().answers(20, 30, usage=(9, 7)).ends().report().tokens
    assert (bare.reasoning, bare.cached) == (None, None)


@pytest.mark.slow
def test_a_count_that_the_stream_contradicts(a_run: NewRun) -> None:
    """A warning; of 0 tokens with text in them, and of one too few, which may be part of a call."""
    run = a_run().answers(20, 25, 30, 35, usage=(5, 0)).answers(20, 25, 30, 35, usage=(5, 2))
    run.answers(20, 25, usage=(5, 1)).answers(20, 25, 30, usage=(5, 9))
    report = run.ends().report()
    finding = findings(report)["usage_contradicted"]
    assert (finding.severity, finding.message.startswith("In 2 responses")) == ("warning", True)
    assert (report.tokens.output, report.tokens.source) == (4 + 2 + 1 + 9, "mixed")
    assert findings(a_run().answers(20, 25, usage=(5, 2)).ends().report()) == {}


@pytest.mark.slow
def test_responses_that_no_request_asked_for(a_run: NewRun) -> None:
    """Counted with the request that was sent next, and where one failed by them; the run is invalid."""
    run = a_run().answers(20, usage=(1, 1)).answers(20, usage=(1, 1), issue={"unasked": 2})
    run.fails("unasked_response").answers(20, usage=(1, 1), issue={"unasked": 1, "phase": "warmup"})
    report = run.ends().report()
    finding = findings(report)["unasked_responses"]
    assert finding.severity == "error"
    assert finding.message.startswith(
        "The server sent 3 unsolicited responses; 1 request failed for that reason."
    )
    assert not report.validity.valid
    last = findings(a_run().answers(20).fails("unasked_response").ends().report())["unasked_responses"]
    assert last.message.startswith("The server sent 1 unsolicited response;")


@pytest.mark.slow
def test_responses_without_their_end(a_run: NewRun) -> None:
    """The answers count; a warning says how many were waited for."""
    run = a_run().answers(20, usage=(1, 1)).answers(20, usage=(1, 1), unended="idle_timeout")
    report = run.ends().report()
    finding = findings(report)["unended_responses"]
    assert (
        finding.severity,
        finding.message.startswith("The HTTP responses of 1 complete answer did not end"),
    ) == ("warning", True)
    assert (report.counts.completed, report.validity.valid) == (2, True)


def test_endings_that_count_as_complete(a_run: NewRun) -> None:
    """A warning for each kind that may not be complete, with the reasons; none for the ordinary ones."""
    run = a_run()
    for reason in (
        "stop",
        "length",
        "MAX_TOKENS",
        "content_filter",
        "SAFETY",
        "SAFETY",
        "abort",
        "foo",
        None,
    ):
        run.answers(20, 30, usage=(5, 2), finish_reason=reason)
    shown = {code: finding.message for code, finding in findings(run.ends().report()).items()}
    assert shown.keys() == {"answers_filtered", "answers_aborted", "finish_reasons_unknown"}
    assert shown["answers_filtered"].startswith("3 of 9 answers were ended by a filter")
    assert shown["answers_filtered"].endswith("'SAFETY' (2), 'content_filter' (1).")
    assert shown["answers_aborted"].startswith("1 of 9 answers were aborted by the server")
    assert shown["finish_reasons_unknown"].endswith("and count as complete: 'foo' (1).")


def test_deviations_from_a_protocol(a_run: NewRun) -> None:
    """One warning names them all, the most frequent first."""
    run = a_run().answers(20, 30, usage=(5, 2), deviations="data: null, event stream as text/plain")
    run.answers(20, 30, usage=(5, 2), deviations="event stream as text/plain").answers(20, 30, usage=(5, 2))
    finding = findings(run.ends().report())["protocol_deviations"]
    assert finding.severity == "warning"
    assert finding.message.endswith("anyway: event stream as text/plain (2); data: null (1).")


def asked(a_run: NewRun) -> Run:
    """A run of a benchmark's questions."""
    run = a_run()
    run.events.append(Event(EventType.QUESTION, ns(0), None, {"prompt_id": 1, "task": "gsm8k", "id": "1"}))
    run.settings["accuracy"] = {"tasks": [{"task": "gsm8k", "name": "gsm8k", "first": 0, "count": 1}]}
    return run


def test_reasoning_in_tags_is_a_finding(a_run: NewRun) -> None:
    """With the number of answers whose content begins with it, in any run; none without such tags."""
    run = a_run().answers(20, 30, usage=(5, 9), content_chars=40, tagged_chars=25)
    run.answers(20, 30, usage=(5, 9), content_chars=40, tagged_chars=0)
    (finding,) = [each for each in run.ends().report().findings if each.code == "thinking_in_content"]
    assert finding.severity == "info"
    assert finding.message.startswith("1 answer began with reasoning in tags")
    plain = a_run().answers(20, 30, usage=(5, 9), content_chars=40, tagged_chars=0).ends().report()
    assert "thinking_in_content" not in {each.code for each in plain.findings}


@pytest.mark.parametrize(
    ("chars", "expected"),
    [
        ({"content_chars": 0, "reasoning_chars": 30}, True),
        ({"content_chars": 30, "tagged_chars": 30}, True),
        ({"content_chars": 31, "tagged_chars": 30}, False),
        ({"content_chars": 0, "reasoning_chars": 30, "call_chars": 5}, False),
    ],
)
def test_an_answer_that_is_reasoning_alone(a_run: NewRun, chars: dict[str, int], expected: bool) -> None:  # noqa: FBT001 (a case)
    """A warning where questions are scored; a load test asks nothing that could be wrong."""
    run = asked(a_run).answers(20, 30, usage=(5, 9), **{"reasoning_chars": 0, "call_chars": 0, **chars})
    matching = [each for each in run.ends().report().findings if each.code == "reasoning_only"]
    assert len(matching) == expected
    if expected:
        assert matching[0].severity == "warning"
        assert matching[0].message.startswith("1 answer of 1 had reasoning, but no content")
        assert "--max-tokens" in matching[0].remedy
    load = a_run().answers(20, 30, usage=(5, 9), **{"reasoning_chars": 0, "call_chars": 0, **chars})
    assert "reasoning_only" not in {each.code for each in load.ends().report().findings}
