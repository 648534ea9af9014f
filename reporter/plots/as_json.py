"""Plots as JSON: every point, with the SQL."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from reporter.plots.plot_value import Plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.plots.plot_value import NoPlot

SCHEMA_VERSION: Final = 1


def as_json(plots: Sequence[Plot | NoPlot]) -> str:
    """The plots, and the reasons for missing plots."""
    import orjson

    document = {
        "schema_version": SCHEMA_VERSION,
        "plots": [asdict(plot) for plot in plots if isinstance(plot, Plot)],
        "not_made": [asdict(plot) for plot in plots if not isinstance(plot, Plot)],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
