"""The differences of a comparison as SVG. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.render.comparison_figure import differences
from reporter.render.plot_picture import picture

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison


def render(comparison: Comparison) -> str:
    """A row for each metric and side, with the interval.

    Raises:
        ImportError: matplotlib is not there.
    """
    return picture([differences(comparison)], "svg").decode()
