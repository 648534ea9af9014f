"""A plot as a value: axes, series of points, and the SQL. Renderers draw the plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Scale = Literal["linear", "log", "time", "percentile", "category"]
"""How places on an axis follow from values.

- `time`: seconds since the start of the measured window.
- `percentile`: shares from 0 up to below 1, drawn at log10(1 / (1 - share)), so that the tail has room.
- `category`: names, in the order of the points.
"""

Kind = Literal["line", "step", "bars", "points", "band"]
"""How a series is drawn.

- `line`: straight lines between points; a point without `y` interrupts it.
- `step`: `y` holds from its `x` to the next one.
- `bars`: from `low` to `high` along the x axis, `y` high.
- `points`: single points; `low` and `high`, if any, are the interval of `y`.
- `band`: the area between `low` and `high`, with a line at `y`.
"""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Attributes:
        unit: Its unit, such as `ms`; empty for a count and for names.
    """

    label: str
    unit: str
    scale: Scale = "linear"

    @property
    def title(self) -> str:
        """The title of the axis."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


@dataclass(frozen=True, slots=True)
class PlotSeries:
    """Points of one kind, in the order of the line through them; all tuples have equal length.

    Attributes:
        x: In the unit of the x axis; names where its scale is `category`.
        y: In the unit of the y axis; None without one.
        low: The lower end of the interval, or of the bar; None for a series without one.
        group: The value of the tag, or the run, that the points are about; None where they are about all.
        labels: The names of the points, where each has one.
    """

    name: str
    kind: Kind
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    group: str | None = None
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot.

    Attributes:
        name: Its name in the catalog, such as `ttft-cdf`.
        series: What is drawn; at least one, and each has points.
        sql: The statement whose rows are the points: `loadgen sql RUN "SQL"`. Empty where no SQL made them.
        note: A remark for the reader, in a sentence or two; may be empty.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    series: tuple[PlotSeries, ...]
    sql: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class NoPlot:
    """A plot that is not made.

    Attributes:
        reason: Why there is none, as a sentence without its full stop.
    """

    name: str
    title: str
    reason: str


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
