"""Two series compared point by point, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from reporter.render.json import printable

if TYPE_CHECKING:
    from reporter.compare.points import SeriesComparison


def render(series: SeriesComparison) -> str:
    """`points`: the name and the comparison of each, two spaces a level."""
    points = [{"name": point.name, "comparison": point.comparison.to_dict()} for point in series.points]
    content = orjson.dumps({"points": points}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    return printable(content.decode())
