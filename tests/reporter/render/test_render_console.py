"""The console report: golden files for what people see, and properties for what they must never see."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from reporter.client_health import ClientHealth, RecorderHealth
from reporter.render import console
from reporter.report import (
    Finding,
    Report,
    RequestCounts,
    Summary,
    ThroughputFigures,
    Tokens,
    Validity,
    Window,
)
from rulesets.verdict import Verdict, VerdictRow
from tests.facts_of_runs import run_facts
from tests.reporter.render.conftest import summary

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeReport = Callable[..., Report]
    MakeRow = Callable[..., Any]
    Golden = Callable[[str, str], None]

NO_LATENCY = {field.name: None for field in fields(Report) if field.name.endswith("_ms")}

NONE_COMPLETED = Finding(
    "nothing_completed",
    "error",
    "None of the 100 requests completed: 100 refused.",
    "`loadgen check` tells whether the endpoint answers and knows the model.",
)
CUT_OFF = Finding(
    "cut_off",
    "error",
    "The run was cut off: its log has no end. 2310 requests had completed, 90 were in flight.",
    "What had completed is reported. Let a run end, or stop it with Ctrl-C, for figures that can stand.",
)
SLOW = Summary(7435, 360.0, 20.0, 280.0, 351.83, 420.0, 440.0, 500.0, 620.0, 700.0)

hostile = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "\x1b[31mred\x1b[0m",
            "\x9b2J",
            "a\r\nb\tc\x00d\x07",
            "[red]markup[/red] [link=x]",
            "\u202eright to left",
            "\ud800 lone",
            "\ue000",
            "\u2028",
            "模型" * 30,
            "w" * 300,
            ":smile:",
            "",
        ]
    ),
)
figures = st.floats(0, 1e5) | st.sampled_from([float("nan"), float("inf"), 5e-324, 0.0])
counts = st.integers(0, 10_000_000)
summaries = st.none() | st.builds(Summary, counts, figures, st.none() | figures, *[figures] * 7)
facts_of_runs = st.fixed_dictionaries(
    {},
    optional={
        "model": hostile | st.none(),
        "url": hostile,
        "protocol": hostile,
        "stream": st.booleans(),
        "load": st.fixed_dictionaries(
            {"kind": st.sampled_from(["closed", "constant", "gamma", "trace", "offline", None]) | hostile},
            optional={
                "concurrency": counts | st.none(),
                "rate": figures | st.none(),
                "profile": hostile | st.none(),
                "stages": st.lists(st.just({}), max_size=3) | st.none(),
                "burstiness": figures | st.none(),
                "think": hostile | st.none(),
                "trace_speed": figures | st.none(),
            },
        ),
        "max_tokens": counts | st.none(),
        "started_at": hostile,
        "ended": st.sampled_from(["completed", "interrupted", "worker_lost", "cut_off"]) | hostile,
        "versions": st.dictionaries(st.just("llm-loadgen"), hostile | st.none()),
        "timestamp_source": hostile | st.none(),
        "percentile_method": hostile,
        "tpot_mode": st.sampled_from(["request_weighted", "token_weighted"]),
        "dataset": st.none()
        | st.fixed_dictionaries({"name": hostile, "rows": counts, "synthetic": st.booleans()}),
    },
)
runs = facts_of_runs.map(lambda facts: run_facts(**facts))
rows = st.builds(
    VerdictRow,
    id=hostile,
    target=hostile,
    observed=st.none() | st.floats(0, 1e5),
    bound=st.floats(0, 1e5),
    unit=st.sampled_from(["", "ms", "%", "req/s"]),
    n=counts,
    status=st.sampled_from(["PASS", "FAIL", "INVALID"]),
    severity=st.sampled_from(["fail", "warn", "info"]),
    margin=st.none() | st.floats(-1e3, 1e3),
    reason=hostile,
    group=st.just("target"),
)
verdicts = st.builds(
    Verdict,
    status=st.sampled_from(["PASS", "FAIL", "INVALID"]),
    ruleset=hostile,
    version=hostile,
    rows=st.lists(rows, max_size=4).map(tuple),
    reasons=st.lists(hostile, max_size=2).map(tuple),
)
recorders = st.builds(
    RecorderHealth,
    lost=st.none() | counts,
    high_water=st.none() | counts,
    others=st.dictionaries(st.sampled_from(["_", ""]) | hostile, figures | counts | st.none(), max_size=5),
)
clients = st.builds(
    ClientHealth,
    readings=counts,
    loop_lag_max_ms=st.none() | figures,
    cpu_share_max=st.none() | figures,
    held_up_ms=st.none() | figures,
)
reports = st.builds(
    Report,
    run=runs,
    validity=st.builds(Validity, st.booleans(), st.lists(hostile, max_size=2)),
    counts=st.builds(RequestCounts, *[counts] * 6, st.dictionaries(hostile, counts, max_size=4), counts),
    window=st.builds(
        Window,
        st.sampled_from(["duration", "requests", "cut_off"]),
        st.none() | figures,
        st.none(),
        st.none(),
    ),
    throughput=st.builds(ThroughputFigures, *[st.none() | figures] * 3),
    tokens=st.builds(
        Tokens,
        st.none() | counts,
        st.none() | counts,
        st.sampled_from(["server_usage", "client_tokenizer", "chunks", "mixed", None]),
    ),
    own_ttft_share=st.none() | figures,
    recorder=recorders,
    client=clients,
    findings=st.lists(
        st.builds(Finding, hostile, st.sampled_from(["error", "warning", "info"]), hostile, hostile),
        max_size=3,
    ),
    verdict=st.none() | verdicts,
    **dict.fromkeys(NO_LATENCY, summaries),
)


def of_extremes(**figures: float) -> Report:
    """A report each latency row of which has these figures."""
    return Report(
        run=run_facts(),
        validity=Validity(valid=True, reasons=[]),
        counts=RequestCounts(9, 9, 9, 0, 0, 0, {}, 0),
        window=Window("requests", None, None, None),
        throughput=ThroughputFigures(None, None, None),
        tokens=Tokens(None, None, None),
        recorder=RecorderHealth(),
        client=ClientHealth(readings=0),
        findings=[],
        **dict.fromkeys(NO_LATENCY, replace(SLOW, **figures)),
    )


def plain(text: str) -> str:
    """The text without colors and without what colors keep at the ends of lines."""
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).split("\n"))


@pytest.fixture(scope="module")
def failing(a_report: MakeReport, a_rule: MakeRow, a_verdict: MakeRow) -> Report:
    """A run with failures, findings, and a verdict that fails."""
    return a_report(
        completed=7380,
        counts=RequestCounts(
            7435, 7435, 7380, 55, 0, 0, {"reset": 2, "http_429": 41, "first_byte_timeout": 12}, 64
        ),
        tokens=Tokens(None, 951_296, "chunks"),
        ttfo_ms=replace(SLOW, count=7380),
        ttfv_ms=replace(SLOW, count=7380),
        findings=[
            Finding(
                "tokens_from_chunks",
                "warning",
                "The server sent no usage for 7,380 of 7,380 requests: one chunk was taken for one token.",
                "Count them with a tokenizer: loadgen report RUN --tokenizer NAME.",
            ),
            Finding("coalesced_reads", "info", "12 reads held more than one chunk."),
        ],
        verdict=a_verdict(
            "FAIL",
            a_rule(),
            a_rule(
                "ttft:p(99)<87ms",
                observed=87.0744,
                bound=87.0,
                status="FAIL",
                margin=-0.000855,
                reason="ttft:p(99) = 87.0744 ms; required: < 87 ms",
            ),
            a_rule(
                "error:rate<=0.5%!warn",
                observed=0.73974,
                bound=0.5,
                unit="%",
                status="FAIL",
                severity="warn",
                margin=-0.47948,
                reason="error:rate = 0.73974%; required: <= 0.5%",
            ),
            a_rule(
                "connect:p(99)<1s",
                observed=None,
                bound=1.0,
                unit="s",
                n=0,
                status="FAIL",
                margin=None,
                reason="the run has no samples of connect:p(99): not measured, so counted as failed",
            ),
        ),
    )


@pytest.fixture(scope="module")
def all_failed(a_report: MakeReport) -> Report:
    """A run in which no request completed."""
    return a_report(
        **NO_LATENCY,
        own_ttft_share=None,
        validity=Validity(valid=False, reasons=[NONE_COMPLETED.message, "The client was late by 12.5 ms."]),
        counts=RequestCounts(100, 100, 0, 100, 0, 0, {"refused": 100}, 0),
        window=Window("requests", 0.31, 0, 310_000_000),
        throughput=ThroughputFigures(0.0, 0.0, None),
        tokens=Tokens(None, None, None),
        findings=[NONE_COMPLETED],
    )


@pytest.fixture(scope="module")
def cut_off(a_report: MakeReport) -> Report:
    """A run at a Poisson rate that was killed."""
    return a_report(
        completed=2310,
        run=run_facts(
            model="tiny",
            ended="cut_off",
            load={"kind": "poisson", "rate": 250.0},
            dataset={"rows": 64, "synthetic": True},
        ),
        validity=Validity(valid=False, reasons=[CUT_OFF.message]),
        counts=RequestCounts(3000, 2400, 2310, 0, 0, 90, {}, 0),
        window=Window("cut_off", 12.31, 0, 12_310_000_000),
        throughput=ThroughputFigures(187.652, 24019.5, 47258.2),
        tokens=Tokens(286_062, 295_680, "server_usage"),
        client=ClientHealth(),
        findings=[CUT_OFF],
    )


def test_a_good_run(a_report: MakeReport, a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """A good run reads the same every time: plain, colored, narrow, wide, and in short."""
    report = a_report(
        verdict=a_verdict(
            "PASS", a_rule(), a_rule("error:rate<=1%", observed=0.0, bound=1.0, unit="%", margin=1.0)
        ),
    )
    golden("good.txt", console.render(report))
    golden("good.color.txt", console.render(report, color=True))
    golden("good.40.txt", console.render(report, width=40))
    golden("good.summary.txt", console.render(report, summary_only=True))


def test_a_run_with_failures_findings_and_a_verdict_that_fails(failing: Report, golden: Golden) -> None:
    """Errors come by class, the most frequent first; what failed the verdict says why."""
    golden("failing.txt", console.render(failing, width=80))
    golden("failing.120.txt", console.render(failing, width=120))
    golden("failing.color.txt", console.render(failing, color=True))


def test_a_run_in_which_all_failed(all_failed: Report, golden: Golden) -> None:
    """Without a completed request there are no percentiles of the server, and the report says so."""
    golden("all_failed.txt", console.render(all_failed, width=80))
    golden("all_failed.summary.txt", console.render(all_failed, width=80, summary_only=True))


def test_a_run_that_was_cut_off(cut_off: Report, golden: Golden) -> None:
    """A run without an end says so in its headline, with what was in flight."""
    golden("cut_off.txt", console.render(cut_off, width=80))


def test_a_reason_that_is_a_finding_is_shown_once(all_failed: Report) -> None:
    """A finding that makes the run invalid is not repeated as a reason; other reasons are shown."""
    text = console.render(all_failed)
    assert text.count(NONE_COMPLETED.message) == 1
    assert "The client was late by 12.5 ms." in text


def test_output_before_reasoning_is_its_own_row(a_report: MakeReport) -> None:
    """TTFO has a row only where it tells something that TTFT does not."""
    assert "TTFO" not in console.render(a_report())
    assert "TTFO" in console.render(a_report(ttfo_ms=SLOW))


def test_token_weighted_tpot_says_so(a_report: MakeReport) -> None:
    """A TPOT that is distributed over tokens is not mistaken for one over requests."""
    assert "TPOT by token" not in console.render(a_report())
    assert "TPOT by token" in console.render(a_report(run=run_facts(tpot_mode="token_weighted")))


def test_a_writer_that_fell_behind_is_shown(a_report: MakeReport) -> None:
    """The time for which issuing was held up is shown only where it was."""
    assert "held up" not in console.render(a_report())
    held = replace(a_report().client, held_up_ms=12.5)
    assert "held up 12.5 ms" in console.render(a_report(client=held))


def test_client_overhead_without_streaming(a_report: MakeReport) -> None:
    """Without first tokens, client overhead is a share of the latency."""
    assert "client overhead 0.30 % of TTFT p99" in console.render(a_report())
    assert "client overhead 0.30 % of latency p99" in console.render(a_report(ttft_ms=None))


def test_the_clients_health_is_one_line_unless_it_needs_a_look(a_report: MakeReport) -> None:
    """A warning about the client, an event that was lost, or `verbose` shows all of it."""
    short = console.render(a_report())
    assert short.count("Client health") == 1
    assert "Dispatch delay" not in short
    finding = Finding("client_late", "warning", "The client was late.")
    lost = replace(a_report().recorder, lost=3)
    for full in (
        console.render(a_report(findings=[finding])),
        console.render(a_report(recorder=lost)),
        console.render(a_report(), verbose=True),
    ):
        assert "Client health" not in full
        assert "Dispatch delay" in full
        assert "Send delay" in full
        assert "peak queue 312 events" in full
    server = Finding("requests_failed", "warning", "3 requests failed.")
    assert "Client health" in console.render(a_report(findings=[server]))


def test_speeds_of_requests_are_a_table_of_verbose(a_report: MakeReport) -> None:
    """Generation and prompt speed, in tok/s; the default page has their reciprocals."""
    report = a_report(generation_tps=summary(125.0), prompt_tps=summary(2500.0))
    assert "tok/s   " not in console.render(report)
    times, speeds = console.render(report, verbose=True).split("\ntok/s ")
    generation, prompt = speeds.splitlines()[1:3]
    assert "milliseconds" in times
    assert generation.split()[:2] == ["Generation", "128"]
    assert prompt.split()[:2] == ["Prompt", "2,550"]
    assert "\ntok/s " not in console.render(a_report(), verbose=True)


def test_queueing_is_a_row_of_open_loops(a_report: MakeReport) -> None:
    """Latency from the schedule is a row where requests may wait, with a label that no other row has."""
    assert "incl. queueing" not in console.render(a_report())
    late = replace(SLOW, mean=400.0)
    text = console.render(a_report(run=run_facts(load={"kind": "poisson"}), ttft_from_schedule_ms=late))
    assert "TTFT, incl. queueing" in text
    assert "Latency, incl. queueing" in text


def test_percentiles_of_choice_are_the_columns(a_report: MakeReport) -> None:
    """`run.percentiles` names them; `verbose` adds the standard deviation and the minimum."""
    chosen = replace(SLOW, percentiles={"p75": 412.5, "p999": 620.0, "p9999": 690.0})
    figures = {name: None for name in NO_LATENCY if name != "ttft_ms"}
    report = a_report(run=run_facts(percentiles=["p75", "p999", "p9999"]), ttft_ms=chosen, **figures)
    heading, row = console.render(report, verbose=True).split("milliseconds")[1].splitlines()[:2]
    assert heading.split() == ["mean", "std", "min", "p75", "p99.9", "p99.99", "max", "n"]
    assert row.split()[:4] == ["TTFT", "360", "20", "280"]
    assert "412" in row


def test_the_heading_says_how_long_prompts_are(a_report: MakeReport) -> None:
    """The mean numbers of tokens that were measured."""
    lengths = {"input_tokens": replace(SLOW, mean=99.6), "output_tokens": replace(SLOW, mean=1234.0)}
    assert "prompts of gsm8k.jsonl: ~100 tokens in, ~1,234 out," in console.render(a_report(**lengths))


def test_one_of_a_thing_is_not_several(a_report: MakeReport) -> None:
    """One prompt, one warm-up request, one conversation."""
    dataset = {"name": "one.jsonl", "sha256": "", "rows": 1, "synthetic": False}
    counts = replace(a_report().counts, warmup=1)
    text = console.render(a_report(run=run_facts(dataset=dataset), counts=counts))
    assert "1 prompt of one.jsonl" in text
    assert "after 1 warm-up request\n" in text
    conversations = {**dataset, "conversations": True, "rows": 1319}
    assert "1,319 conversations of one.jsonl" in console.render(
        a_report(run=run_facts(dataset=conversations))
    )


def test_markup_is_text(a_report: MakeReport) -> None:
    """What looks like our markup is printed as it is."""
    finding = Finding("x", "warning", "[red]no[/red] :smile: [link=http://x]y[/link]")
    assert finding.message in console.render(a_report(findings=[finding]), color=True)


def test_escapes_are_shown_not_obeyed(a_report: MakeReport) -> None:
    """A terminal sequence in an error message is shown as its escape."""
    finding = Finding("x", "warning", "\x1b[2Jgone\r\nnew \u202eline\x9b")
    text = console.render(a_report(findings=[finding]))
    assert r"\x1b[2Jgone new \u202eline\x9b" in text


def test_figures_are_never_cut_short(a_report: MakeReport) -> None:
    """A figure too wide for the page sticks out of it rather than losing digits."""
    vast = replace(SLOW, p50=0.001, p99=123_456_789_012.345)
    assert "123,456,789,012.345" in console.render(a_report(ttft_ms=vast), width=40)


def test_the_environment_has_no_say(a_report: MakeReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page depends on the report and the arguments alone."""
    before = [console.render(a_report(), color=color) for color in (False, True)]
    for name, value in {"NO_COLOR": "1", "FORCE_COLOR": "1", "COLUMNS": "50", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)
    assert [console.render(a_report(), color=color) for color in (False, True)] == before


@pytest.mark.slow
@settings(deadline=None)
@given(reports, st.integers(40, 200), st.booleans())
@example(report=of_extremes(p50=1e-7, p99=100.0), width=40, summary_only=False)
@example(report=of_extremes(p50=5e-324, p99=1e5), width=40, summary_only=True)
def test_any_report_renders_safely(report: Report, width: int, summary_only: bool) -> None:  # noqa: FBT001 (drawn by Hypothesis)
    """Whatever a report holds, every line fits the page and every character is one that can be printed."""
    text = console.render(report, width=width, summary_only=summary_only)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert max(map(cell_len, text.split("\n"))) <= width
    text.encode("utf-8")


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(reports, st.integers(40, 200))
def test_color_changes_nothing_but_color(report: Report, width: int) -> None:
    """The colored page is the plain page with nothing but colors added."""
    assert plain(console.render(report, width=width, color=True)) == console.render(report, width=width)
