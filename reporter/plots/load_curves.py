"""The runs of a sweep or a search against their load: throughput by load, and latencies by throughput."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter import statements
from reporter.plots.plot_value import Axis, NoPlot, Plot, PlotSeries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LOADS: Final = {"concurrency": "", "rate": "requests/s"}
"""The axes of a series that are a load, with their units."""

_LATENCIES: Final = {"latency": "Latency", "ttft": "TTFT", "tpot": "TPOT"}
_THROUGHPUT: Final = Axis("throughput: output tokens", "1/s")
_FEWEST: Final = 2
_NOTE: Final = "The figures are from the table of runs."


def load_curves(rows: Sequence[Mapping[str, Any]]) -> tuple[Plot | NoPlot, ...]:
    """Throughput against the load, then each latency against throughput; nothing where no load is varied.

    Args:
        rows: The runs of a series, as `SeriesOverview.rows` has them.
    """
    load = next((name for name in _LOADS if len({row["axes"].get(name) for row in rows}) >= _FEWEST), None)
    if load is None:
        return ()
    curves = _curves(rows, load)
    return (
        _plot(
            "throughput-by-load",
            f"Throughput against {load}",
            Axis(load, _LOADS[load]),
            _THROUGHPUT,
            list(_throughput(curves, load)),
        ),
        *(
            _plot(
                f"{name}-by-throughput",
                f"{label} against throughput",
                _THROUGHPUT,
                Axis(label, "ms"),
                list(_latency(curves, load, name)),
            )
            for name, label in _LATENCIES.items()
        ),
    )


def _plot(name: str, title: str, x: Axis, y: Axis, series: Sequence[PlotSeries]) -> Plot | NoPlot:
    if not any(len(curve.x) >= _FEWEST for curve in series):
        return NoPlot(name, title, "fewer than two runs have the figures")
    return Plot(name, title, x, y, tuple(series), statements.of_series(), _NOTE)


def _curves(rows: Sequence[Mapping[str, Any]], load: str) -> Mapping[str, list[Mapping[str, Any]]]:
    """Runs that differ in the load alone, in the order of the load, by the common settings."""
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(
        (row for row in rows if _is_number(row["axes"].get(load))), key=lambda row: row["axes"][load]
    ):
        others = {name: value for name, value in row["axes"].items() if name not in {load, "trial"}}
        curves.setdefault(", ".join(f"{name} {value}" for name, value in others.items()), []).append(row)
    return curves


def _throughput(curves: Mapping[str, list[Mapping[str, Any]]], load: str) -> Iterator[PlotSeries]:
    for name, rows in curves.items():
        shown = [row for row in rows if row["output_tps"] is not None]
        if shown:
            x = [row["axes"][load] for row in shown]
            y = [row["output_tps"] for row in shown]
            margins = [row["output_tps_margin"] or 0.0 for row in shown]
            yield _line(name or "output tokens/s", x, y, _labels(shown, load), margins)
            yield from _invalid(shown, x, y)


def _latency(curves: Mapping[str, list[Mapping[str, Any]]], load: str, metric: str) -> Iterator[PlotSeries]:
    for name, rows in curves.items():
        for statistic in ("p50", "p99"):
            figure = f"{metric}_{statistic}_ms"
            shown = [row for row in rows if row["output_tps"] is not None and row[figure] is not None]
            if shown:
                x, y = [row["output_tps"] for row in shown], [row[figure] for row in shown]
                yield _line(f"{name} {statistic}".lstrip(), x, y, _labels(shown, load))
                yield from _invalid(shown, x, y)


def _line(
    name: str, x: Sequence[float], y: Sequence[float], labels: tuple[str, ...], margins: Sequence[float] = ()
) -> PlotSeries:
    low, high = (
        tuple(value + sign * margin for value, margin in zip(y, margins, strict=True)) if margins else None
        for sign in (-1, 1)
    )
    return PlotSeries(name, "line", tuple(x), tuple(y), low, high, labels=labels)


def _invalid(
    rows: Sequence[Mapping[str, Any]], x: Sequence[float], y: Sequence[float]
) -> Iterator[PlotSeries]:
    """The runs that do not stand for the server, marked on the line."""
    marked = [place for row, *place in zip(rows, x, y, strict=True) if not (row["valid"] or row["accepted"])]
    if marked:
        places, figures = zip(*marked, strict=True)
        yield PlotSeries("invalid", "points", places, figures)


def _labels(rows: Sequence[Mapping[str, Any]], load: str) -> tuple[str, ...]:
    return tuple(f"{row['axes'][load]:g}" for row in rows)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
