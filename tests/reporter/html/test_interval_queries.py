"""The queries of a page's intervals and phases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter import MetricsReporter
from reporter.contents.intervals import intervals
from reporter.contents.run_contents import RunContents
from reporter.log.query import query
from reporter.render.html.page import Prose
from reporter.render.html.run_page import page_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter.report import Report


@pytest.fixture(scope="module")
def warmed(a_run: Callable[..., Any]) -> tuple[Path, Report]:
    """Ten requests of a warm-up, then twenty."""
    run = a_run().session(EventType.PHASE_STARTED, 0, phase="warmup")
    for number in range(30):
        if number == 10:
            run.session(EventType.PHASE_ENDED, 10 * number, phase="warmup").begins(10 * number)
        issue = {"phase": "warmup" if number < 10 else "performance"}
        at_ms = 10 * number
        run.answers(*(at_ms + 5 + chunk for chunk in range(3)), at_ms=at_ms, usage=(7, 3), issue=issue)
    folder = run.stops(400).ends(500).write()
    with MetricsReporter(folder) as reporter:
        return folder, reporter.create_report()


def test_intervals_have_the_values_that_go_in(warmed: tuple[Path, Report]) -> None:
    """A value per measured request, and how the interval is computed."""
    folder, report = warmed
    named = {of: sql for of, _, sql in intervals(report)}
    assert len(query(folder, named["Values of latencies"]).rows) == 20
    assert query(folder, named["What arrived"]).rows
    sections = [part for part in page_of(report, RunContents()).sections if isinstance(part, Prose)]
    assert {"intervals"} <= {section.anchor for section in sections}
