"""Statements of servers on requests, from the response to the report, against what the mock knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen import perf
from loadgen.driver.client.server_json import statements
from loadgen.mock_endpoint.errors import MockOptionsError
from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.request_statements import Drafting, Drafts
from reporter.read_report import report_of
from reporter.render import report_csv, report_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen import Run
    from reporter.report import Report


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.tuples(st.just(k), st.lists(st.integers(0, k), min_size=1, max_size=6))
    ),
    st.integers(1, 300),
)
def test_drafts_of_the_mock_satisfy_the_identities(outcomes: tuple[int, list[int]], length: int) -> None:
    """The histogram sums to the steps and to what was accepted; each step adds its own token."""
    drafted, accepted = outcomes
    drafting = Drafting.read(f"{drafted}:{','.join(map(str, accepted))}")
    drafts = Drafts.of(drafting, drafting.pieces(length))
    assert sum(drafts.histogram) == drafts.steps
    assert sum(count * steps for count, steps in enumerate(drafts.histogram)) == drafts.accepted
    assert drafts.accepted <= drafts.drafted == drafted * drafts.steps
    assert 1 + drafts.steps + drafts.accepted == length


@pytest.mark.parametrize("text", ["4", "4:5", "0:0", "x:1", "4:"])
def test_an_impossible_speculation_is_refused(text: str) -> None:
    """The message has the right form."""
    with pytest.raises(MockOptionsError, match="speculate"):
        Drafting.read(text)


def test_only_numbers_are_kept() -> None:
    """Texts, which may be secrets, lists of other things, empty members and other members are left out."""
    payload = {
        "id": "chatcmpl-1",
        "timings": {"prompt_ms": 1.5, "key": "secret", "tokens": [1, 2], "texts": ["a"], "on": True},
        "metrics": None,
        "choices": [{"speculative_decoding": {"num_spec_steps": 3}, "text": "hello"}],
        "usage": {"completion_tokens_details": {"accepted_prediction_tokens": 0}, "prompt_time": 0.25},
    }
    assert statements(payload) == {
        "timings": {"prompt_ms": 1.5, "tokens": [1, 2]},
        "speculative_decoding": {"num_spec_steps": 3},
        "prompt_time": 0.25,
    }
    assert statements({"choices": [{"delta": {"content": "a"}}], "usage": None}) is None
    assert statements({"meta_info": {"finish_reason": None, "e2e_latency": 1.0}}) is None


FORMS = ("vllm", "trtllm", "sglang", "llama.cpp", "openai", "groq", "envoy")


@dataclass(frozen=True)
class Stated:
    """A run whose responses state drafts and times, and what the server knows of its requests."""

    run: Run
    report: Report
    truth: Mapping[str | None, Mapping[str, Any]]

    def drafts(self, *, measured: bool) -> list[Mapping[str, Any]]:
        """The drafts of all requests, or of the measured ones."""
        asked = self.run.sql("SELECT sample_uuid FROM samples WHERE measured").fetchall()
        chosen = {uuid for (uuid,) in asked} if measured else self.truth.keys()
        return [served["drafts"] for uuid, served in self.truth.items() if uuid in chosen]


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Stated:
    """A run against a server that decodes speculatively, and states it in every form."""
    with start_mock(
        ttft="5ms", itl="2ms", tokens="uniform:5..40", slots=2, speculate="3:3,1,0", statements=FORMS
    ) as mock:
        run = perf(
            url=mock.url,
            model="mock",
            concurrency=3,
            requests=12,
            warmup="2",
            server_metrics="auto",
            out=tmp_path_factory.mktemp("stated") / "run",
            on_invalid="warn",
            require=["spec_acceptance_length>=1.5", "spec_acceptance_length<=9", "spec_acceptance_rate>99%"],
        )
        truth = {each.request_id: each.stated for each in mock.truth(requests=14)}
    return Stated(run, run.report(), truth)


def test_every_form_has_the_drafts_of_each_request(stated: Stated) -> None:
    """Steps, drafted and accepted tokens of each request, by each place in its response."""
    rows = stated.run.sql(
        "SELECT sample_uuid, source, steps, drafted, accepted, contradictions FROM speculation"
    ).fetchall()
    by_source: dict[str, set[str]] = {}
    for uuid, source, steps, drafted, accepted, contradictions in rows:
        drafts = stated.truth[uuid]["drafts"]
        assert steps in (drafts["steps"], None)
        assert (drafted, accepted, contradictions) == (drafts["drafted"], drafts["accepted"], "")
        by_source.setdefault(source, set()).add(uuid)
    # A choice states what `metrics` states as well, and is read where that lacks it.
    assert by_source.keys() == {
        *("metrics.speculative_decoding", "sglext.spec_tokens_details", "timings", "usage")
    }
    assert all(asked == stated.truth.keys() for asked in by_source.values())


def test_a_report_has_the_acceptance_that_the_server_knows(stated: Stated) -> None:
    """Of the measured requests, and of all by the server's counters; by position; nothing contradicts."""
    own, all_drafts = stated.drafts(measured=True), stated.drafts(measured=False)
    steps, accepted = (sum(each[name] for each in own) for name in ("steps", "accepted"))
    all_steps, all_accepted = (sum(each[name] for each in all_drafts) for name in ("steps", "accepted"))
    part = stated.report.sections["speculation"]
    assert part.figures["acceptance_length"] == pytest.approx(1 + accepted / steps)
    assert (part.figures["requests"], part.figures["steps"]) == (12, steps)
    assert part.figures["server_acceptance_length"] == pytest.approx(1 + all_accepted / all_steps)
    positions, contexts = part.tables
    for place, (name, of_requests, of_server) in enumerate(positions.rows, 1):
        assert name == str(place)
        assert of_requests == pytest.approx(sum(sum(each["histogram"][place:]) for each in own) / steps)
        reached = sum(sum(each["histogram"][place:]) for each in all_drafts)
        assert of_server == pytest.approx(reached / all_steps)
    assert sum(row[1] for row in contexts.rows) == 12  # type: ignore[misc]
    codes = {finding.code for finding in stated.report.findings}
    assert not {"speculation_contradicts", "speculation_counters_differ"} & codes
    assert stated.report.verdict is not None
    assert [row.status for row in stated.report.verdict.rows] == ["PASS", "PASS", "FAIL"]


def test_a_report_has_the_times_that_the_server_knows(stated: Stated) -> None:
    """Queue, TTFT and decode of each request, next to the client's; in JSON, CSV and Markdown too."""
    times = stated.run.sql(
        "SELECT sample_uuid, source, queue_ms, ttft_ms, decode_ms, head_ms FROM server_times"
    ).fetchall()
    for uuid, source, queue_ms, ttft_ms, decode_ms, head_ms in times:
        served = stated.truth[uuid]
        if source == "metrics":
            assert queue_ms == pytest.approx(served["queue_ns"] / 1e6)
            assert ttft_ms == pytest.approx((served["queue_ns"] + served["first_token_ns"]) / 1e6)
        if source in {"metrics", "timings", "usage"}:
            assert decode_ms == pytest.approx(served["decode_ns"] / 1e6)
        assert (head_ms is not None) == (source == "x-envoy-upstream-service-time")
    part = stated.report.sections["server_times"]
    assert "of 12 state times" in part.lines[0]
    # The client's stamps of an arrival are later than the server's of a write.
    assert part.figures["metrics_ttft_apart_p50_ms"] >= -0.1  # type: ignore[operator]
    stored = orjson.loads((stated.run.folder / "report.json").read_bytes())
    assert stored["sections"].keys() == {"server_times", "speculation"}
    read = report_of(orjson.dumps(stored)).sections["server_times"]
    assert (read.lines, len(read.tables[0].rows)) == (part.lines, len(part.tables[0].rows))
    assert "speculation,acceptance_length,value," in report_csv.render(stated.report)
    assert "**Speculation**" in report_markdown.render(stated.report)


def test_headers_state_times_of_whole_answers(tmp_path: Path) -> None:
    """Server-Timing and the headers of TGI state all times of an answer in one piece."""
    with start_mock(ttft="4ms", itl="1ms", tokens="8", statements=("server-timing", "tgi", "envoy")) as mock:
        run = perf(
            url=mock.url, model="mock", requests=3, stream=False, out=tmp_path / "run", on_invalid="warn"
        )
    rows = run.sql(
        "SELECT source, clock, prefill_ms, decode_ms, latency_ms, head_ms FROM server_times"
    ).fetchall()
    assert {row for row in rows if row[0] == "Server-Timing"} == {("Server-Timing", "server", 4, 7, None, 11)}
    assert ("x-queue-time", "server", None, 11, 11, None) in rows
    assert ("x-envoy-upstream-service-time", "gateway", None, None, None, 11) in rows
    figures = run.report().sections["server_times"].figures
    assert figures["Server-Timing_up_to_the_head_apart_p50_ms"] >= 0
