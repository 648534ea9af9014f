"""A report reads a table of few requests, and the view of many: the figures are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reporter import MetricsReporter
from reporter.log.database import held_samples, open_log, set_windows
from reporter.windows.window import Window
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

DEFINITIONS = [Definitions(), Definitions(throughput_window="last_issued_done", tpot_end="complete")]


def described(a_run: Callable[..., Run]) -> Run:
    """A run of three requests, of which the one that was issued last ends first."""
    run = a_run(kind="poisson", rate=10)
    for number, end in enumerate((900, 700, 400)):
        run.answers(end - 50, end - 20, end, at=100.0 * number, usage=(3, 7), uuid=f"request {number}")
    return run.stops(1000).ends(1000)


@pytest.mark.parametrize("definitions", DEFINITIONS)
def test_the_figures_are_the_same(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, definitions: Definitions
) -> None:
    """Also of the window that definitions choose while the report is computed."""
    run = described(a_run).write()
    with MetricsReporter(run) as reporter:
        held = reporter.create_report(definitions=definitions)
    monkeypatch.setattr(held_samples, "FEW_REQUESTS", 0)
    with MetricsReporter(run) as reporter:
        viewed = reporter.create_report(definitions=definitions)
    assert held.to_dict() == viewed.to_dict()
    assert held.throughput.qps is not None


def test_the_view_is_back_after_the_report(a_run: Callable[..., Run]) -> None:
    """Definitions that are changed by hand change what queries answer."""
    tpot = "SELECT max(tpot_ms) FROM samples"
    with MetricsReporter(described(a_run).write()) as reporter:
        reporter.create_report()
        before = reporter.connection.execute(tpot).fetchall()
        reporter.connection.execute("SET VARIABLE tpot_denominator = 'n'")
        assert reporter.connection.execute(tpot).fetchall() != before


def test_windows_that_change_meanwhile_count(a_run: Callable[..., Run]) -> None:
    """Which requests are inside the window follows from the window that is set."""
    inside = "SELECT count(*) FILTER (in_window) FROM samples"
    with open_log(described(a_run).write()) as connection, held_samples.held_samples(connection):
        assert connection.execute(inside).fetchall() == [(3,)]
        nowhere = Window("steady_state", 1.0, 0, 1)
        set_windows(connection, [nowhere], nowhere)
        assert connection.execute(inside).fetchall() == [(0,)]
