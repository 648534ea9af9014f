"""The region of a sweep's targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.plots.pareto import SLO_REGION, pareto_plot, planes, slo_region
from reporter.plots.plot_value import Plot
from reporter.run_row import Figures
from rulesets.evaluators.rule_row import VerdictRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.plots.pareto import Plane

RUNS = {"c1": (100.0, 50.0, 10.0), "c8": (500.0, 80.0, 12.5), "c64": (900.0, 400.0, 40.0)}
"""Output tok/s, median TTFT and median TPOT."""


@pytest.fixture
def both() -> tuple[Plane, Plane]:
    """The planes of interactivity and of TTFT."""
    none: dict[str, Any] = dict.fromkeys(Figures.__dataclass_fields__)
    keys = ("output_tps", "ttft_p50_ms", "tpot_p50_ms")
    return planes(
        [(run, Figures(**none | dict(zip(keys, figures, strict=True)))) for run, figures in RUNS.items()]
    )


def verdicts(met: Mapping[str, Sequence[str]]) -> dict[str, list[VerdictRow]]:
    """The rows of each run, by targets and the runs that met them."""
    return {
        run: [
            VerdictRow(
                *(
                    text,
                    text,
                    1.0,
                    1.0,
                    "ms",
                    1,
                    "PASS" if run in runs else "FAIL",
                    "fail",
                    None,
                    "",
                    "target",
                )
            )
            for text, runs in met.items()
        ]
        for run in RUNS
    }


def test_targets_of_the_axes_are_edges(both: tuple[Plane, Plane]) -> None:
    """A median TTFT, a median TPOT as its inverse, and a throughput."""
    rows = verdicts({"ttft:p(50)<100ms": ("c1",), "tpot:p(50)<20ms": (), "output_tps>=200": ("c8",)})
    interactivity, ttft = (slo_region(plane, rows) for plane in both)
    assert ttft is not None
    assert (ttft.low_x, ttft.high_x, ttft.low_y) == (0, 100, 200)
    assert interactivity is not None
    assert (interactivity.low_x, interactivity.high_x, interactivity.low_y) == (50, None, 200)


def test_other_percentiles_end_at_the_last_run_that_met_them(both: tuple[Plane, Plane]) -> None:
    """The axis does not show where between two runs the edge lies, and the note says so."""
    rows = verdicts({"ttft:p(99)<1s": ("c1", "c8"), "tpot:p(99)<1s": ("c1", "c8")})
    interactivity, ttft = (slo_region(plane, rows) for plane in both)
    assert ttft is not None
    assert ttft.high_x == 80
    assert "to the last run that met it" in ttft.note
    assert interactivity is not None
    assert interactivity.low_x == 80


@pytest.mark.parametrize("met", [{}, {"latency:p(99)<1s": ("c1",)}, {"ttft:p(99)<1ms": ()}])
def test_without_such_targets_there_is_none(
    both: tuple[Plane, Plane], met: Mapping[str, Sequence[str]]
) -> None:
    """Neither of other metrics, nor of one that no run met."""
    assert [slo_region(plane, verdicts(met)) for plane in both] == [None, None]


def test_the_region_is_drawn_below_the_runs(both: tuple[Plane, Plane]) -> None:
    """From the edge to a little beyond the runs."""
    rows = verdicts({"tpot:p(50)<20ms": ("c1",)})
    plot = pareto_plot(both[0], ["c1"], slo_region(both[0], rows))
    assert isinstance(plot, Plot)
    region, *_ = plot.series
    assert (region.name, region.x, region.y) == (SLO_REGION, (50, pytest.approx(110)), (None, None))
    assert (region.low, region.high) == ((0, 0), (pytest.approx(990),) * 2)
    assert "tpot:p(50)<20ms" in plot.note
