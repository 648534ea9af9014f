"""What plots of a run are marked with: its phases, and the bounds of its rules."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.plotting import plots_of, write_picture
from loadgen.sessions.run.report_of_log import opened_report
from recorder import EventType
from reporter.log.database import open_log
from reporter.log.query import open_for_queries
from reporter.plots.marks import PHASES, RunPhase, TargetLine, in_words, phases_of, target_lines
from rulesets import of_expressions
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_phases_are_on_the_time_axis_of_the_plots(tmp_path: Path) -> None:
    """Warm-up before 0 s, then the window, then the drain, as the query of the page answers."""
    run = Run(tmp_path).session(EventType.PHASE_STARTED, 0, phase="warmup")
    run.answers(50, 60, at_ms=10, issue={"phase": "warmup"})
    run.session(EventType.PHASE_ENDED, 100, phase="warmup").begins(100, duration_s=0.5)
    run.answers(150, 160, at_ms=100).answers(550, 900, at_ms=500).stops(600)
    run.session(EventType.PHASE_ENDED, 600, phase="performance")
    run.session(EventType.PHASE_STARTED, 600, phase="drain").session(
        EventType.PHASE_ENDED, 950, phase="drain"
    )
    folder = run.ends(950).write()
    with open_log(folder) as log:
        phases = phases_of(log)
    assert phases == (
        RunPhase("warm-up", pytest.approx(-0.09), pytest.approx(0.0)),
        RunPhase("window", 0.0, pytest.approx(0.5)),
        RunPhase("drain", pytest.approx(0.5), pytest.approx(0.8)),
    )
    assert in_words(phases) == "warm-up 90.0 ms, window 500 ms, drain 300 ms"
    connection = open_for_queries(folder)
    assert [RunPhase(*row) for row in connection.execute(PHASES).fetchall()] == list(phases)
    connection.close()


def test_bounds_are_lines_in_the_plots_of_their_metrics(a_run: Callable[..., Any]) -> None:
    """In the unit of the axis; those of a goodput too, and none of a part of the requests or of a change."""
    run = a_run().answers(50, 60, 70).stops(900).ends()
    rules = ("ttft:p(99)<0.5s", "good(tpot<20ms):fraction>90%", "output_tps>3", "ttft{class:chat}:p(50)<1s")
    with opened_report(run.write(), of_expressions(rules)) as (report, _):
        assert report.verdict is not None
        lines = target_lines(report.verdict.rows)
    assert lines["ttft-over-time"] == (TargetLine("y", 500.0, "ttft:p(99)<0.5s"),)
    assert lines["ttft-cdf"] == (TargetLine("x", 500.0, "ttft:p(99)<0.5s"),)
    assert lines["tpot-percentiles"] == (TargetLine("y", 20.0, "tpot<20ms"),)
    assert lines["tokens-over-time"] == (TargetLine("y", 3.0, "output_tps:value>3tok/s"),)
    assert {name.partition("-")[0] for name in lines} == {"ttft", "tpot", "tokens"}


@pytest.mark.slow
def test_pictures_have_the_marks_of_the_page(tmp_path: Path) -> None:
    """Warm-up and drain are named on time axes, and the bounds of the run's rules in the legend."""
    rules = of_expressions(("ttft:p(99)<0.06s", "latency:p(50)<10s"))
    run = Run(tmp_path)
    run.settings |= {"ruleset": rules.to_dict()}
    run.session(EventType.PHASE_STARTED, 0, phase="warmup").answers(
        50, 60, at_ms=10, issue={"phase": "warmup"}
    )
    run.session(EventType.PHASE_ENDED, 100, phase="warmup").begins(100, duration_s=0.5)
    for number in range(10):
        run.answers(130 + 50 * number, 160 + 50 * number, at_ms=100 + 45 * number)
    folder = run.stops(600).ends(950).write()
    texts = {}
    for name in ("over-time", "ttft-over-time", "latency-cdf"):
        path = tmp_path / f"{name}.svg"
        assert write_picture(plots_of([folder], name), path, [folder])
        texts[name] = path.read_text()
    assert ">warm-up<" in texts["over-time"]
    assert ">ttft:p(99)&lt;0.06s<" in texts["ttft-over-time"]
    assert ">latency:p(50)&lt;10s (outside)<" in texts["latency-cdf"]
    assert "warm-up" not in texts["latency-cdf"]
    # Runs that are drawn over each other have their own phases.
    copied = copytree(folder, tmp_path / "copied")
    assert write_picture(plots_of([folder, copied], "ttft-cdf"), path, [folder, copied])
    assert "0.06s" not in path.read_text()
