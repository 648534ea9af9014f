"""The row of a run, and how sure its figures are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.run_row import figures

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.slow
def test_a_row_has_the_figures_of_its_run(a_run: Callable[..., Any]) -> None:
    """Interactivity is 1000 / the median TPOT; a run without any has none."""
    run = a_run().answers(50, 60, 70, usage=(5, 3)).answers(50, 70, 90, usage=(5, 3))
    row = figures(run.fails().stops(100).ends().report())
    assert row.tpot_p50_ms is not None
    assert row.user_tps == 1000 / row.tpot_p50_ms
    assert (row.requests, row.failed, row.error_rate, row.overloaded) == (3, 1, 1 / 3, False)
    nothing = figures(a_run().fails().stops(100).ends().report())
    assert (nothing.user_tps, nothing.ttft_p50_ms, nothing.error_rate) == (None, None, 1.0)
