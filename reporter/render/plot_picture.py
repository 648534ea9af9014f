"""Plots as pictures, SVG or PNG. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

from io import BytesIO
from itertools import count
from math import log10
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reporter.plots.marks import PlotMarks
from reporter.plots.plot_value import NoPlot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure

    from reporter.plots.marks import RunPhase, TargetLine
    from reporter.plots.plot_value import Axis, Plot, PlotSeries

_SIZE: Final = 7
_HIGH: Final = 10.0
_CHARACTER: Final = 4.0
"""Height of a name, and width of each of its characters, in points."""
_PLACES: Final = ((6, 4), (6, -10), (-6, 4), (-6, -10), (6, 14), (6, -20), (-6, 14), (-6, -20))
"""Where a name may be, from its point: to the right first."""


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def covers(self, other: _Box) -> bool:
        return not (
            self.right < other.left
            or other.right < self.left
            or self.top < other.bottom
            or other.top < self.bottom
        )


def write_names(axes: Any, points: Sequence[tuple[Any, Any, str]]) -> None:
    """Write names next to points, inside the axes, whose limits are final."""
    per_point = 72 / axes.figure.dpi
    places = [per_point * axes.transData.transform((x, y)) for x, y, _ in points]
    left_of_axes, bottom_of_axes = per_point * axes.transAxes.transform((0, 0))
    taken = [_Box(x - 3, y - 3, x + 3, y + 3) for x, y in places]
    for (x, y, name), (left, bottom) in zip(points, places, strict=True):
        boxes = {place: _box(left, bottom, place, name) for place in _PLACES}
        free = [
            place
            for place, box in boxes.items()
            if box.bottom > bottom_of_axes
            and box.left > left_of_axes
            and not any(box.covers(other) for other in taken)
        ]
        place = free[0] if free else _PLACES[0]
        taken.append(boxes[place])
        axes.annotate(
            name,
            (x, y),
            xytext=place,
            textcoords="offset points",
            fontsize=_SIZE,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0},
            horizontalalignment="right" if place[0] < 0 else "left",
        )


def _box(left: float, bottom: float, place: tuple[int, int], name: str) -> _Box:
    wide = _CHARACTER * len(name)
    start = left + place[0] - (wide if place[0] < 0 else 0)
    return _Box(start, bottom + place[1], start + wide, bottom + place[1] + _HIGH)


_WINDOW: Final = "window"
_BOUND_DASHES: Final = ("--", ":", "-.")
_REACH: Final = 3.0
"""A bound this many times beyond the points is still drawn; one that is farther would flatten them."""


def shade(axes: Any, phases: Iterable[RunPhase]) -> None:
    """Shade and name warm-up and drain on the time axis, within the limits of the plot."""
    left, right = axes.get_xlim()
    for phase in phases:
        start, end = max(left, phase.start_s), min(right, phase.end_s)
        if start < end and phase.name != _WINDOW:
            axes.axvspan(start, end, color=_GRAY, alpha=0.15, linewidth=0, zorder=0)
            name = {"rotation": 90, "transform": axes.get_xaxis_transform(), "verticalalignment": "top"}
            axes.text(start, 0.98, phase.name, fontsize=7, color=_GRAY, **name)
    axes.set_xlim(left, right)


def draw_bounds(axes: Any, lines: Iterable[TargetLine]) -> None:
    """Draw each bound as a line across the plot, named in the legend; a far one is only named."""
    for number, line in enumerate(lines):
        get, put, draw = (
            (axes.get_xlim, axes.set_xlim, axes.axvline)
            if line.axis == "x"
            else (axes.get_ylim, axes.set_ylim, axes.axhline)
        )
        low, high = get()
        style = {"color": _VERMILION, "linewidth": 1, "linestyle": _BOUND_DASHES[number % len(_BOUND_DASHES)]}
        if low <= line.bound <= _REACH * high:
            draw(line.bound, label=line.label, **style)
            put(low, max(high, 1.05 * line.bound))
        else:
            axes.plot([], [], label=f"{line.label} (outside)", **style)


Picture = Literal["svg", "png"]
_Style = tuple[dict[str, Any], str]
"""The color and the label of a series, and its dashes."""

COLORS: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
"""M. Okabe, K. Ito, Color Universal Design, 2008: distinguished with any kind of color vision. Their yellow
is left out, which is hard to see on white; vermilion means that something failed."""

_VERMILION: Final = "#D55E00"
_GRAY: Final = "#777777"
_UNDECIDED: Final = ("too few runs", "too few requests", "not tested")
_MEANINGS: Final = {
    "failed": _VERMILION,
    "failed requests": _VERMILION,
    "worse": _VERMILION,
    "wanted": _GRAY,
    "run": _GRAY,
    **dict.fromkeys(("no significant difference", "in doubt", *_UNDECIDED), _GRAY),
    "better": "#009E73",
    **dict.fromkeys(("meets its targets", "SLO region"), "#009E73"),
    "knee": "#CC79A7",
}
"""Colors of series with a meaning."""

_DASHES: Final = ("-", "--", ":", "-.")
"""Of the series of one group, so that no picture depends on color alone."""

_DASHES_OF: Final = {"completed": "-", "wanted": ":", "failed": "-."}

_WIDTH: Final = 7.0
_HEIGHT: Final = 4.0
"""Inches of a plot."""
_NO_PLOT: Final = 1.0
_NAME_ROOM: Final = 1.15
_ROW: Final = 0.24
"""Inches of a name on an axis of categories."""
_FEW_MARKERS: Final = 60
_LEGEND_LINE: Final = 13
"""Points that a line of a legend takes."""
_LEGEND_WIDTH: Final = 100
_LEGEND_MARK: Final = 6
"""Characters that fit into a line, and those that the sample of a line takes."""
_NINES: Final = ((0.0, "0"), (0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"))


def picture(plots: Sequence[Plot | NoPlot], form: Picture, marks: PlotMarks | None = None) -> bytes:
    """Draw plots, one under the other; of one that is not made, its reason. The same plots give the same SVG.

    Raises:
        ImportError: matplotlib is not there.
    """
    from matplotlib import rc_context

    with rc_context(_STYLE):
        content = BytesIO()
        metadata = {"Date": None} if form == "svg" else {"Software": None}
        figure(plots, marks).savefig(content, format=form, dpi=150, metadata=metadata)
    return content.getvalue()


_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "loadgen",  # no names at random
    "svg.fonttype": "none",  # texts stay texts
    "text.parse_math": False,  # a name with dollar signs is not a formula
    "font.size": 9,
    "axes.titlesize": 10,
}


def figure(plots: Sequence[Plot | NoPlot], marks: PlotMarks | None = None) -> Figure:
    """Draw plots, one under the other, as a figure of matplotlib.

    Raises:
        ImportError: matplotlib is not there.
    """
    from matplotlib import rc_context

    from reporter.render.shown_figure import ShownFigure

    heights = [_height(plot) for plot in plots]
    with rc_context(_STYLE):
        made = ShownFigure(figsize=(_WIDTH, sum(heights)), layout="constrained")
        panels = made.subplots(len(plots), squeeze=False, height_ratios=heights)[:, 0]
        for axes, plot in zip(panels, plots, strict=True):
            _draw(axes, plot, marks or PlotMarks())
    return made


def _height(plot: Plot | NoPlot) -> float:
    if isinstance(plot, NoPlot):
        return _NO_PLOT
    if plot.x.scale != "category":
        return _HEIGHT
    return 1.3 + _ROW * sum(len(series.x) for series in plot.series)


def _draw(axes: Any, plot: Plot | NoPlot, marks: PlotMarks) -> None:
    if isinstance(plot, NoPlot):
        axes.set_axis_off()
        axes.set_title(plot.title, loc="left")
        axes.text(0, 0.8, f"not drawn: {plot.reason}", wrap=True, verticalalignment="top")
        return
    styles, bounds = _styles(plot.series), marks.lines.get(plot.name, ())
    if plot.x.scale == "category":
        _rows(axes, plot, styles)
    else:
        _curves(axes, plot, styles)
        draw_bounds(axes, bounds)
    if plot.x.scale == "time":
        shade(axes, marks.phases)
    # Rows are about something that no axis names, such as a benchmark.
    is_named = plot.x.scale == "category" or bool(bounds) or len({style["label"] for style, _ in styles}) > 1
    lines = _legend(axes) if is_named else 0
    axes.set_title(plot.title, loc="left", pad=6 + _LEGEND_LINE * lines)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _curves(axes: Any, plot: Plot, styles: Sequence[_Style]) -> None:
    for series, (style, dash) in zip(plot.series, styles, strict=True):
        _curve(axes, series, plot, style, dash)
    _place(axes, "x", plot.x)
    _place(axes, "y", plot.y)
    named = [series for series in plot.series if series.labels]
    if named:
        # The names of the points to the right have room.
        axes.set_xlim(0, _NAME_ROOM * max(x for series in named for x in _numbers(series.x)))
    elif plot.x.scale == "linear" and all(x >= 0 for series in plot.series for x in _numbers(series.x)):
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    values = [y for series in plot.series for y in series.y if y is not None]
    if plot.y.scale != "log" and min(values, default=0) >= 0:
        axes.set_ylim(bottom=0, top=None if any(values) else 1)
    write_names(
        axes,
        [point for series in named for point in zip(series.x, series.y, series.labels or (), strict=True)],
    )


def _styles(series: Sequence[PlotSeries]) -> list[_Style]:
    """Colors and labels, and dashes: colors are of groups where there are some, else of names."""
    names = list(dict.fromkeys(curve.name for curve in series))
    groups = list(dict.fromkeys(curve.group for curve in series))
    styles = []
    for curve in series:
        if curve.group is None:
            own = [name for name in names if name not in _MEANINGS]
            color = _MEANINGS.get(curve.name) or COLORS[own.index(curve.name) % len(COLORS)]
            styles.append(({"color": color, "label": curve.name}, "--" if curve.name == "wanted" else "-"))
        else:
            label = f"{curve.group}, {curve.name}" if len(names) > 1 else curve.group
            color = COLORS[groups.index(curve.group) % len(COLORS)]
            dash = _DASHES_OF.get(curve.name) or _DASHES[names.index(curve.name) % len(_DASHES)]
            styles.append(({"color": color, "label": label}, dash))
    return styles


def _curve(axes: Any, series: PlotSeries, plot: Plot, style: dict[str, Any], dash: str) -> None:
    x = _numbers(series.x)
    if plot.x.scale == "percentile":
        x = [_percentile(share) for share in x]
    y = _numbers(series.y)
    low, high = (y if ends is None else _numbers(ends) for ends in (series.low, series.high))
    if series.kind == "bars":
        widths = [right - left for left, right in zip(low, high, strict=True)]
        axes.bar(low, y, widths, align="edge", alpha=0.5 if series.group else 0.9, **style)
    elif series.kind == "step":
        # The last step is as long as the one before.
        end = 2 * x[-1] - x[-2] if plot.x.scale == "time" and len(x) > 1 else x[-1]
        axes.step([*x, end], [*y, y[-1]], where="post", linestyle=dash, linewidth=1.4, **style)
    elif series.kind == "points":
        _points(axes, series, style)
    else:
        if series.kind == "band":
            # Without a line in it, it has the label itself.
            label = {"label": style["label"]} if all(value is None for value in series.y) else {}
            alpha = 0.12 if series.group or label else 0.2
            axes.fill_between(x, low, high, color=style["color"], alpha=alpha, linewidth=0, **label)
            if label:
                return
        marker = "." if len(x) <= _FEW_MARKERS else None
        axes.plot(x, y, linestyle=dash, marker=marker, markersize=4, linewidth=1.4, **style)


def _points(axes: Any, series: PlotSeries, style: dict[str, Any]) -> None:
    marker = "o" if series.labels else "x" if series.name.startswith("failed") else "."
    if series.low and series.high:
        axes.vlines(series.x, _numbers(series.low), _numbers(series.high), color=style["color"], linewidth=1)
    axes.plot(series.x, series.y, marker, markersize=4 if marker == "." else 5, alpha=0.8, **style)


def _rows(axes: Any, plot: Plot, styles: Sequence[_Style]) -> None:
    """Names from top to bottom, each with its value and interval."""
    place, names = count(), list[str]()
    for series, (style, _) in zip(plot.series, styles, strict=True):
        places = [next(place) for _ in series.x]
        names += map(str, series.x)
        if series.low and series.high:
            ends = (_numbers(series.low), _numbers(series.high))
            axes.hlines(places, *ends, color=style["color"], linewidth=1.6)
        marker = "x" if series.name in _UNDECIDED else "o"
        inside = {"markerfacecolor": "white"} if series.name == "in doubt" else {}
        axes.plot(series.y, places, marker, markersize=4, linestyle="", **style, **inside)
    if axes.get_xlim()[0] < 0:
        axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()
    _place(axes, "x", plot.y)
    axes.margins(y=0.6 / max(len(names), 1))


def _numbers(values: Sequence[float | str | None]) -> list[float]:
    """What is not known becomes NaN, which is not drawn."""
    return [float("nan") if value is None else float(value) for value in values]


def _legend(axes: Any) -> int:
    """Write a legend between the title and the axes, where it covers no point; return its lines."""
    by_label: dict[str, Any] = {}
    for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
        by_label.setdefault(label, handle)
    columns = max(1, min(len(by_label), _LEGEND_WIDTH // (max(map(len, by_label)) + _LEGEND_MARK)))
    axes.legend(
        by_label.values(),
        by_label.keys(),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        frameon=False,
        fontsize=8,
        borderpad=0,
        borderaxespad=0.4,
        columnspacing=1.2,
    )
    return -(-len(by_label) // columns)


def _place(axes: Any, which: Literal["x", "y"], axis: Axis) -> None:
    """Label an axis, and give it its scale."""
    side = {"x": axes.xaxis, "y": axes.yaxis}[which]
    if axis.scale == "log":
        from matplotlib.ticker import FuncFormatter, LogLocator

        {"x": axes.set_xscale, "y": axes.set_yscale}[which]("log")
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        side.set_minor_formatter(FuncFormatter(lambda *_: ""))
    elif axis.scale == "percentile":
        right_end = side.get_view_interval()[1]
        ticks = [(_percentile(share), name) for share, name in _NINES if _percentile(share) <= right_end]
        side.set_ticks([place for place, _ in ticks], [name for _, name in ticks])
    side.set_label_text(axis.title)


def _percentile(share: float) -> float:
    """Where a share is on an axis of percentiles: each further nine is as far."""
    return -log10(1 - share)
