"""The plots of a run in progress are those of the report, whenever and however long the log is read."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plugins.viewing.live_moments import LIVE_PLOTS, MOST_MOMENTS, QUERY, LiveMoments
from recorder import schema
from recorder.session import Session
from recorder.store import Store
from reporter.live.growing_log import GrowingLog, UnendedRequest
from reporter.log.database import open_log
from reporter.plots.make import make_plot
from reporter.plots.plot_value import Plot
from rulesets.definitions import Definitions
from tests.conftest import EXAMPLES
from tests.reporter.conftest import BASE_NS, WALL_NS, Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

S = 10**9


def points(plots: Sequence[Plot]) -> dict[tuple[str, str], dict[float, float]]:
    """The values other than zero of every series, by place."""
    return {
        (plot.name, series.name): {
            round(float(x), 6): float(y) for x, y in zip(series.x, series.y, strict=True) if y
        }
        for plot in plots
        for series in plot.series
    }


def test_the_plots_are_those_of_the_report(tmp_path: Path) -> None:
    """Rates, requests in flight and tokens are equal, latencies within a bin; the log is read in pieces."""
    run = Run(tmp_path, {"load": {"kind": "constant", "rate": 10.0}}).begins()
    for number in range(60):
        begun = 100 * number
        if number % 9 == 5:
            run.fails(at_ms=begun, failed=begun + 70)
        else:
            first, last = begun + 20 + number, begun + 900 + 3 * number
            run.answers(first, last, at_ms=begun, usage=(5, 40 + number), issue={"scheduled": begun})
    run.events.sort(key=lambda event: event.at_ns)
    rows = [schema.row(event) for event in run.events]
    store = Store.create(run.folder / "events.db", Session("s", BASE_NS, WALL_NS, run.settings, {}))
    moments = LiveMoments(is_open=True)
    with GrowingLog(run.folder, Definitions(), ()) as log:
        for start, end in pairwise([0, 30, 90, 91, len(rows)]):
            store.append(rows[start:end])
            moments.add(log.rows(QUERY))
            moments.plots(log.in_flight)
        live = points(moments.plots(log.in_flight))
    store.close()
    with open_log(run.folder) as opened:
        made = [make_plot(opened, name) for name in LIVE_PLOTS]
    reported = points([plot for plot in made if isinstance(plot, Plot)])
    assert moments.width_s == 0.5
    assert live.keys() == reported.keys()
    for key, of_report in reported.items():
        # The last moment is not over while a run lasts.
        shown = {x: y for x, y in of_report.items() if "ttft" in key[0] or "latency" in key[0] or x < 6.5}
        close = 0.021 if "ttft" in key[0] or "latency" in key[0] else 1e-5
        assert live[key] == pytest.approx(shown, rel=close), key


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 400), st.integers(0, 9)), min_size=1, max_size=20)
)
def test_wider_moments_are_the_same_as_wide_ones(requests: list[tuple[int, int, int]]) -> None:
    """Joined moments equal moments of the joined width, and stay within `MOST_MOMENTS`."""
    rows: list[tuple[Any, ...]] = []
    for start, span, tokens in [(0, 0, 0), *requests]:
        begun_ns, ended_ns = start * S, (start + span) * S
        stamps = (begun_ns, begun_ns, ended_ns, begun_ns + S // 2, ended_ns)
        rows.append((None, 1, "completed", *stamps, tokens, 1.0, 2.0))
    narrow, wide = LiveMoments(is_open=True), LiveMoments(is_open=True)
    narrow.add(rows)
    wide.width_s = narrow.width_s
    wide.add(rows)
    flying = [UnendedRequest(None, 1, requests[0][0] * S)]
    assert points(narrow.plots(flying)) == {
        name: pytest.approx(values) for name, values in points(wide.plots(flying)).items()
    }
    assert all(len(series.x) <= MOST_MOMENTS for plot in narrow.plots(flying) for series in plot.series)


def test_a_resumed_run_shows_the_last_segment() -> None:
    """The plots leave out the time between segments, and the requests of earlier segments."""
    moments = LiveMoments(is_open=False)
    row = ("completed", 0, S, 2 * S, None, None, 0, 1.0, 2.0)
    moments.add([(None, 1, *row)])
    later = ("completed", 9000 * S, 9000 * S, 9004 * S, None, None, 0, 1.0, 2.0)
    moments.add([(None, 2, *later)])
    shown = points(moments.plots([UnendedRequest(None, 1, 0)]))
    assert shown["in-flight-over-time", "in flight"] == dict.fromkeys(
        [number / 2 for number in range(8)], 1.0
    )
