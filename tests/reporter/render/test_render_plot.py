"""Plots as pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import get_args

import pytest

from reporter.plots.pareto import pareto_plot, planes
from reporter.plots.plot_value import Axis, Kind, NoPlot, Plot, PlotSeries
from reporter.render.plot_picture import picture
from reporter.run_row import Figures

LATENCY = Axis("TTFT", "ms")


def figures(output_tps: float, ttft_ms: float) -> Figures:
    """Those that are on the plane of TTFT."""
    nothing = dict.fromkeys(
        ("qps", "total_tps", "user_tps", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "latency_p50_ms"), None
    )
    return Figures(
        output_tps=output_tps,
        ttft_p50_ms=ttft_ms,
        latency_p99_ms=None,
        error_rate=None,
        requests=10,
        failed=0,
        overloaded=False,
        **nothing,
    )


def texts(svg: bytes) -> set[str]:
    """What a picture says."""
    root = ET.fromstring(svg)  # noqa: S314 (this program drew it)
    return {"".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")}


def test_a_sweep_has_its_runs_front_knee_and_those_that_meet_their_targets() -> None:
    """On the plane of TTFT; nothing has a TPOT, and the other plane says so. The same each time."""
    runs = [
        ("c1", figures(100, 10)),
        ("c8", figures(700, 11)),
        ("c$64$", figures(800, 50)),
        ("c65", figures(400, 66)),
    ]
    interactivity, ttft = (pareto_plot(plane, {"c1"}) for plane in planes(runs))
    assert isinstance(ttft, Plot)
    assert {series.name: series.labels for series in ttft.series if series.kind == "points"} == {
        "meets its targets": ("c1",),
        "knee": ("c8",),
        "Pareto front": ("c$64$",),
        "run": ("c65",),
    }
    assert interactivity == NoPlot(
        "pareto-interactivity",
        "Throughput against interactivity",
        "no run is valid and has both a throughput and a TPOT p50",
    )
    drawn = [picture([interactivity, ttft], "svg") for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert {"c1", "c8", "c$64$", "c65", "median TTFT [ms]", "throughput: output tokens [tok/s]"} <= texts(
        drawn[0]
    )


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["linear", "log", "time", "percentile"])
def test_every_kind_of_series_is_drawn_on_every_scale(scale: str) -> None:
    """Also with a single point, with a value that is not known, and in groups; axes have their units."""
    x = (0.1, 0.5, 0.9)
    plots = []
    for kind in get_args(Kind):
        series = (
            PlotSeries(f"one {kind}", kind, x[:1], (2.0,), (1.0,), (3.0,)),
            PlotSeries(f"other {kind}", kind, x, (2.0, None, 4.0), (1.0, None, 3.0), (3.0, None, 5.0)),
        )
        axis = Axis(f"time of {kind}", "s", scale)  # type: ignore[arg-type]
        plots.append(Plot("a", f"A {kind}", axis, LATENCY, series, ""))
    labels = texts(picture(plots, "svg"))
    for kind in get_args(Kind):
        assert {f"A {kind}", f"time of {kind} [s]", "TTFT [ms]", f"one {kind}", f"other {kind}"} <= labels
    if scale == "log":
        assert picture(plots[:1], "png").startswith(b"\x89PNG")


def test_names_are_rows() -> None:
    """On an axis of categories, in their order."""
    series = PlotSeries(
        "gsm8k", "points", ("all", "subject: $x$ & <b>"), (50.0, 20.0), (40.0, None), (60.0, None)
    )
    plot = Plot("accuracy", "A", Axis("subject", "", "category"), Axis("accuracy", "%"), (series,), "")
    assert {"gsm8k", "all", "subject: $x$ & <b>", "accuracy [%]"} <= texts(picture([plot], "svg"))
