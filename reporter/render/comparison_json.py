"""A comparison of runs, or of series point by point, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reporter.render.json import printable

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison
    from reporter.compare.point_pairs import SeriesComparison


def render(comparison: Comparison | SeriesComparison) -> str:
    """Every side, metric and change, of each point, two spaces a level."""
    content = orjson.dumps(comparison.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return printable(content.decode())
