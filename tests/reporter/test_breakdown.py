"""The figures of parts of a run, on runs small enough to work out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter.breakdown import MOST_VALUES
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def tagged(**tags: str) -> dict[str, Any]:
    """An issue of a request with tags."""
    return {"about": {"tags": tags}}


def test_what_there_is_only_one_of_is_not_broken_down(a_run: NewRun) -> None:
    """No warm-up, one endpoint, no tags: the report is all there is to say."""
    assert a_run().answers(50, usage=(1, 1)).ends().report().breakdown == {}


def test_tags(a_run: NewRun) -> None:
    """Each value has its requests, the most frequent first, and rates that add up to those of the run."""
    run = a_run().begins(duration_s=0.2)
    run.answers(50, 100, usage=(1, 10), issue=tagged(**{"a/b~'c": "long"}))
    run.answers(100, 150, 200, 250, usage=(1, 8), issue=tagged(**{"a/b~'c": "long"}))
    run.answers(20, usage=(1, 1), issue=tagged(other="x"))
    run.issues(about={"tags": {"a/b~'c": "short"}}).happens(EventType.ERROR, 9, error="reset")
    report = run.stops(200).ends().report()
    assert list(report.breakdown) == ["a/b~'c", "other"]
    long, short, none = sorted(
        report.breakdown["a/b~'c"], key=lambda part: str(part.value) if part.value else "~"
    )
    assert report.breakdown["a/b~'c"][0] == long
    assert (long.value, long.values, long.issued, long.completed, long.error_rate) == ("long", 1, 2, 2, 0)
    assert long.latency_ms is not None
    assert (long.latency_ms.count, long.latency_ms.min, long.latency_ms.max) == (2, 100, 250)
    assert (long.duration_s, long.qps, long.output_tps) == (
        0.2,
        pytest.approx(5),
        pytest.approx((10 + 6) / 0.2),
    )
    assert (short.value, short.failed, short.error_rate, short.qps, short.ttft_ms) == ("short", 1, 1, 0, None)
    assert (none.value, none.values, none.completed) == (None, 1, 1)
    rates = [part.output_tps for part in (long, none)]
    assert sum(filter(None, rates)) == pytest.approx(report.throughput.output_tps)


@pytest.mark.slow
def test_percentiles_of_a_part_are_those_of_its_requests(a_run: NewRun) -> None:
    """As if the part were the run, whichever method is asked for."""
    for method in ("linear", "nearest_rank", "loadgen_floor"):
        run, alone = a_run(), a_run()
        for number in range(1, 31):
            run.answers(
                number * number,
                number * number + 3,
                usage=(1, 2),
                issue=tagged(kind="odd" if number % 2 else "even"),
            )
            if number % 2:
                alone.answers(number * number, number * number + 3, usage=(1, 2))
        part = next(
            p for p in run.ends().report(percentile_method=method).breakdown["kind"] if p.value == "odd"
        )
        whole = alone.ends().report(percentile_method=method)
        assert (part.ttft_ms, part.tpot_ms, part.latency_ms) == (
            whole.ttft_ms,
            whole.tpot_ms,
            whole.latency_ms,
        )


def test_many_values_make_no_long_report(a_run: NewRun) -> None:
    """The most frequent have rows, the rest one together."""
    run = a_run()
    for number in range(MOST_VALUES + 20):
        run.answers(5, issue=tagged(user=f"{number}"))
    parts = run.answers(5, issue=tagged(user="7")).ends().report().breakdown["user"]
    assert len(parts) == MOST_VALUES
    assert (parts[0].value, parts[0].issued) == ("7", 2)
    assert (parts[-1].value, parts[-1].values, parts[-1].issued) == (None, 21, 21)
    assert sum(part.issued for part in parts) == MOST_VALUES + 21


def test_a_tag_with_a_name_that_is_taken(a_run: NewRun) -> None:
    """It is still there, under another."""
    run = a_run().answers(5, issue=tagged(time="noon"))
    assert list(run.ends().report().breakdown) == ["tag:time"]


def test_endpoints(a_run: NewRun) -> None:
    """Requests are grouped by the URL that they went to, the most frequent first."""
    run = a_run()
    run.settings |= {"url": "http://a", "urls": ["http://a", "http://b"]}
    for place, arrival in ((0, 10), (1, 20), (1, 40)):
        run.answers(arrival, issue={"about": {"endpoint": place}})
    report = run.ends().report()
    assert [(part.value, part.completed) for part in report.breakdown["endpoint"]] == [
        ("http://b", 2),
        ("http://a", 1),
    ]
    assert report.run.urls == ["http://a", "http://b"]
    assert query(run.folder, "SELECT endpoint FROM samples ORDER BY 1").rows == [
        ("http://a",),
        ("http://b",),
        ("http://b",),
    ]


@pytest.mark.slow
def test_turns(a_run: NewRun) -> None:
    """Each turn of conversations has a row, in order, and so has each prompt."""
    run = a_run()
    for turn in (0, 1, 10, 0):
        about = {"conversation": f"c{run.requests // 3}", "turn": turn, "prompt_id": 4}
        prompt = {"messages": [{"role": "user", "content": f"turn {turn}"}]}
        run.answers(50 + turn, issue={"about": about, "prompt": prompt})
    report = run.ends().report()
    assert [(part.value, part.completed) for part in report.breakdown["turn"]] == [
        ("0", 2),
        ("1", 1),
        ("10", 1),
    ]
    asked = query(
        run.folder,
        "SELECT conversation_id, samples.turn, prompt FROM samples "
        "JOIN prompts ON prompts.prompt_id = samples.prompt_id AND prompts.turn = samples.turn "
        "ORDER BY conversation_id, samples.turn",
    )
    assert asked.rows == [
        ("c0", 0, "turn 0"),
        ("c0", 1, "turn 1"),
        ("c0", 10, "turn 10"),
        ("c1", 0, "turn 0"),
    ]


def test_phases(a_run: NewRun) -> None:
    """The warm-up has rates over its own time, what was measured has the report's."""
    run = a_run()
    run.events.clear()
    run.session(EventType.PHASE_STARTED, 0, phase="warmup")
    run.answers(50, 100, usage=(1, 4), issue={"phase": "warmup"}).session(
        EventType.PHASE_ENDED, 200, phase="warmup"
    )
    report = run.begins(200).answers(300, 400, at_ms=200, usage=(1, 2)).ends().report()
    warmup, measured = report.breakdown["phase"]
    assert (warmup.value, warmup.qps, warmup.output_tps, warmup.duration_s) == ("warmup", 5, 20, 0.2)
    assert (measured.value, measured.qps) == ("performance", report.throughput.qps)
    assert measured.output_tps == report.throughput.output_tps
    assert measured.latency_ms == report.latency_ms


STAGES = [
    {"name": "calm", "start_s": 0.0, "duration_s": 0.1, "rate": "10"},
    {"name": None, "start_s": 0.2, "duration_s": 0.2, "rate": "ramp:1..9,0.2s"},
]


def test_stages_of_a_file(a_run: NewRun) -> None:
    """Latencies go by when a request was due, rates by what happened while the stage lasted."""
    run = a_run(kind="poisson", rate=None, stages=STAGES)
    run.answers(40, 80, usage=(1, 2)).answers(150, 250, at_ms=90, usage=(1, 2)).answers(
        300, 350, at_ms=210, usage=(1, 2)
    )
    calm, ramp = run.stops(400).ends().report().breakdown["stage"]
    assert (calm.value, calm.issued, calm.duration_s) == ("calm", 2, 0.1)
    assert (calm.qps, calm.output_tps) == (pytest.approx(10), pytest.approx(20))
    assert calm.latency_ms is not None
    assert calm.latency_ms.max == 160
    assert (ramp.value, ramp.issued, ramp.duration_s) == ("from 0.2 s: ramp:1..9,0.2s", 1, 0.2)
    assert (ramp.qps, ramp.output_tps) == (pytest.approx(10), pytest.approx((1 + 2) / 0.2))


def test_steps_of_a_rate(a_run: NewRun) -> None:
    """Equal steps; the last one lasts as long as the run."""
    run = a_run(kind="constant", rate=None, profile="steps:10..30x3,0.3s")
    for at_ms in (50, 150, 250, 350):
        run.answers(at_ms + 10, at_ms=at_ms)
    parts = run.stops(600).ends().report().breakdown["stage"]
    steps = [(part.value, part.issued, part.duration_s) for part in parts]
    assert steps == [("from 0 s: 10/s", 1, 0.1), ("from 0.1 s: 20/s", 1, 0.1), ("from 0.2 s: 30/s", 2, 0.4)]


def test_a_stage_of_a_run_that_was_cut_off(a_run: NewRun) -> None:
    """It lasts until the last event of the run, of any source."""
    run = a_run(kind="constant", rate=None, profile="steps:10..20x2,0.2s")
    run.answers(20, at_ms=10).answers(150, at_ms=120).issues(180, scheduled=170)
    parts = run.report().breakdown["stage"]
    assert [(part.value, part.issued, part.duration_s) for part in parts] == [
        ("from 0 s: 10/s", 1, 0.1),
        ("from 0.1 s: 20/s", 2, pytest.approx(0.08)),
    ]


def test_tokens_that_did_not_arrive_are_zero_and_not_unknown(a_run: NewRun) -> None:
    """A part whose tokens came later, or never, has 0 per second; the rate of uncounted ones is unknown."""
    run = a_run().begins(duration_s=0.1).answers(50, usage=(1, 1), issue=tagged(kind="early"))
    run.answers(150, 160, usage=(1, 2), issue=tagged(kind="late"))
    run.issues(about={"tags": {"kind": "failed"}}).happens(EventType.ERROR, 9, error="reset")
    run.answers(complete=40, stream=False, issue=tagged(kind="uncounted"))
    parts = run.stops(100).ends().report().breakdown["kind"]
    assert {part.value: part.output_tps for part in parts} == {
        "early": pytest.approx(10),
        "late": 0,
        "failed": 0,
        "uncounted": None,
    }


HOSTILE: list[dict[str, Any]] = [
    *({"tags": tags} for tags in ([1], "x", 5, None, {"": "v"}, {"a": {"b": 1}}, {"a'$.[*]/~": "q"})),
    *({"turn": turn} for turn in ("x", -3, 1.5)),
    *({"endpoint": place} for place in (-1, 10**12, "x", None)),
]


@pytest.mark.parametrize(
    "stages", [[7, {"name": 5, "start_s": -5.0, "duration_s": 1e300, "rate": 7}], "x", {}]
)
def test_a_log_may_say_anything(a_run: NewRun, stages: Any) -> None:
    """Whatever stands where a tag, a turn, an endpoint or a stage should be, there is a report."""
    run = a_run(kind="constant", stages=stages)
    run.settings |= {"url": 5, "urls": ["http://a", 7]}
    for about in HOSTILE:
        run.answers(5, issue={"about": about})
    report = run.stops(100).ends().report()
    assert report.counts.completed == len(HOSTILE)
    assert {"", "a", "a'$.[*]/~"} <= report.breakdown.keys()
