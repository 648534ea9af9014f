"""The block of text that a run in progress is shown as."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from reporter.live.current_figures import LiveFigures, Percentiles
from reporter.live.status_lines import lines
from reporter.live.target_tallies import SoFar, tallies_of, targets_of
from reporter.percentiles import position
from rulesets import of_expressions

RUNNING = LiveFigures(
    phase="performance",
    elapsed_s=75.0,
    planned_s=120.0,
    issued=1515,
    completed=1480,
    errors=Counter({"http_429": 7, "reset": 3, "total_timeout": 2, "truncated": 1, "http_500": 1}),
    in_flight=21,
    rate=19.62,
    issued_rate=20.1,
    wanted_rate=20.0,
    output_tps=2345.6,
    ttft=Percentiles(84.71, 141.3, 228.9),
    tpot=Percentiles(12.0, 12.13, 13.3),
    client=[
        {"source": "recorder", "longest_wait_ms": 12.5, "lost": 0},
        {"source": "client", "cpu_share": 0.11, "loop_lag_max_ms": 2.0},
        {"source": "client", "cpu_share": 0.14, "loop_lag_max_ms": 9.5},
    ],
)

FRAME = """\
performance  ███████████████░░░░░░░░░  62 %  1 min 15 s  45 s left
requests     21 in flight  1,480 completed  14 failed
rate         19.6 req/s of 20.0 wanted  2,346 output tok/s
TTFT         p50 84.7 ms     p90 141 ms      p99 229 ms      last 10 s
TPOT         p50 12.0 ms     p90 12.1 ms     p99 13.3 ms     last 10 s
errors       http_429 7  reset 3  total_timeout 2  truncated 1  others 1
client       OK  CPU 14 %  loop held up 9.50 ms  log 12.5 ms behind at most"""

NARROW = """\
performance
requests     21 in flight
rate         19.6 req/s of 20.0
TTFT         p50 84.7 ms
TPOT         p50 12.0 ms
errors       http_429 7
client       OK  CPU 14 %"""


def text(shown: LiveFigures, width: int = 79, height: int | None = None) -> str:
    """The block as it is on the screen."""
    return "\n".join(line.text for line in lines(shown, width, height))


def test_the_block_of_a_run_in_the_middle() -> None:
    """In eighty columns; errors and a client that cannot keep up are emphasised."""
    assert text(RUNNING) == FRAME
    assert {line.text[:6]: line.tone for line in lines(RUNNING) if line.tone} == {"errors": "bad"}


def test_targets_show_whether_they_hold_so_far() -> None:
    """With the figure; one that is only known after the run says why."""
    rules = ("ttft:p(99)<200ms", "tpot:p(50)<20ms", "error<1%", "latency:p(99)<1s@ucl95", "output_tps>3")
    settings = {"ruleset": of_expressions(rules).to_dict()}
    tallies = tallies_of(settings)
    tallies.completed({"ttft": (229.0,), "tpot": (12.0,), "latency": (900.0,)}, 1)
    targets = tallies.shown(SoFar(10.0, 3, 1, 1, 0, 40, 50))
    shown = lines(replace(RUNNING, targets=targets))
    assert [(line.text, line.tone) for line in shown if line.text.startswith("target")] == [
        ("target       ttft:p(99)<200ms          229 ms      fails so far", "bad"),
        ("target       tpot:p(50)<20ms           12.0 ms     holds so far", ""),
        ("target       error:rate<1%             50.0 %      fails so far", "bad"),
        ("target       latency:p(99)<1s@ucl95    0.900 s     after the run: limit", ""),
    ]
    assert "             and 1 more" in [line.text for line in shown]
    assert targets[4].holds
    assert targets_of({}) == targets_of({"ruleset": {"targets": 3}}) == ()


VALUES_MS = st.lists(st.floats(0.01, 1e5), min_size=1, max_size=60)


@given(VALUES_MS, st.floats(0.01, 1e5), st.integers(1, 99))
def test_a_percentile_holds_as_by_all_values(values_ms: list[float], bound_ms: float, percent: int) -> None:
    """The bound decides as in the report, and the figure is within 0.5 % of that of the report."""
    rule = f"latency:p({percent})<{bound_ms:.6f}ms"
    tallies = tallies_of({"ruleset": of_expressions([rule]).to_dict()})
    for value_ms in values_ms:
        tallies.completed({"latency": (value_ms,)}, 1)
    (shown,) = tallies.shown(SoFar(1.0, 0, 0, 0, 0, 0, 0))
    place = position("linear", len(values_ms), Fraction(percent, 100))
    exact_ms = place.between(*(sorted(values_ms)[rank] for rank in (place.below, place.above)))
    assert shown.observed is not None
    assert abs(shown.observed / exact_ms - 1) <= 0.005
    if abs(exact_ms / round(bound_ms, 6) - 1) > 0.005:
        assert shown.holds == (exact_ms < bound_ms)


def test_a_narrow_terminal_has_the_first_parts() -> None:
    """And a low one the first lines."""
    assert text(RUNNING, 31) == NARROW
    assert text(RUNNING, height=2) == "\n".join(FRAME.splitlines()[:2])


def test_a_run_that_has_just_begun_has_what_is_known() -> None:
    """No figure is made up."""
    assert (
        text(LiveFigures())
        == "setup        0 s\nrequests     0 in flight  0 completed  0 failed\nrate         not known yet"
    )


def test_requests_to_go_at_the_rate_of_the_last_seconds_say_how_long_it_takes() -> None:
    """Where both a number and a duration are planned, the one that is nearer."""
    shown = LiveFigures(phase="performance", elapsed_s=10, planned_requests=4000, completed=1000, rate=0.5)
    assert text(shown).splitlines()[0].endswith("25 %  10 s  1 h 40 min left")
    shown = LiveFigures(phase="performance", planned_s=30, planned_requests=4000, completed=1000, rate=0.5)
    assert text(shown).splitlines()[0].endswith("25 %  0 s  30 s left")


def test_what_is_wrong_with_the_client_is_emphasised() -> None:
    """A busy one, and one that lost events; and the scores so far are shown."""
    busy = LiveFigures(
        client=[{"source": "client", "cpu_share": 0.99, "loop_lag_max_ms": 1.0}], scored=20, mean_score=0.75
    )
    assert lines(busy)[-1] == ("client       BUSY  CPU 99 %  loop held up 1.00 ms", "warn")
    assert "accuracy     mean score 0.750 of 20 answers so far" in text(busy)
    lost = LiveFigures(client=[{"source": "recorder", "lost": lost} for lost in (1, 2)])
    assert lines(lost)[-1] == ("client       BAD  3 events lost", "bad")


def test_nodes_without_a_log_here_are_named_in_numbers() -> None:
    """The figures of some nodes are not those of the run; of no node there are none."""
    some = replace(RUNNING, nodes=3, awaited=("node-2",))
    assert text(some).splitlines()[1] == ("nodes        2 of 3 in these figures  1 log is not here yet")
    none = replace(RUNNING, nodes=2, awaited=("node-0", "node-1"), ttft=None, tpot=None, errors=Counter())
    assert text(none).splitlines()[1:] == [
        "nodes        2 logs are not here yet",
        FRAME.splitlines()[-1],
    ]


counts = st.integers(0, 10**12)
amounts = st.none() | st.floats(0, 1e15)
rates = st.none() | st.just(0.0) | st.floats(1e-9, 1e15)
"""Of the last seconds: the least that is not 0 is one request in all of them."""

percentiles = st.none() | st.builds(Percentiles, *(st.floats(0, 1e12),) * 3)


@given(
    st.builds(
        LiveFigures,
        phase=st.sampled_from(["setup", "warmup", "performance", "drain", "x" * 200]),
        elapsed_s=st.floats(0, 1e9),
        planned_s=st.none() | st.floats(0.001, 1e9),
        planned_requests=st.none() | st.integers(1, 10**12),
        completed=counts,
        cancelled=counts,
        in_flight=counts,
        errors=st.dictionaries(st.text("abc_", max_size=90), st.integers(1, 10**9)).map(Counter),
        rate=rates,
        wanted_rate=amounts,
        output_tps=amounts,
        ttft=percentiles,
        tpot=percentiles,
    ),
    st.integers(1, 200),
)
def test_no_line_is_longer_than_the_terminal(shown: LiveFigures, width: int) -> None:
    """Whatever the figures are."""
    assert all(len(line.text) <= width and "\n" not in line.text for line in lines(shown, width))
