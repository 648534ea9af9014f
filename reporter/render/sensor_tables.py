"""Sensor readings for the console: the server compared with the client, and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import (
    NOTHING,
    as_written,
    between,
    counted,
    decimals,
    figure,
    fixed,
    percent,
    whole,
)
from reporter.render.console_page import block, sentence, tables, text
from reporter.render.table import Column, Mark, Table, headed
from reporter.values.server_side import INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.render.table import Cell
    from reporter.report import Report
    from reporter.values.energy import Energy
    from reporter.values.server_side import ServerSide, SideBySide

_ENGINES: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tgi": "TGI",
    "tensorrt_llm": "TensorRT-LLM",
    "triton": "Triton",
}
_COLUMNS: Final = (
    *headed("Server", "client", "server", "difference"),
    Column("result", justify="left"),
)
_PER_REQUEST: Final = {
    "energy_joules": "energy (J)",
    "power_watts": "power (W)",
    "gpu_utilization_pct": "GPU busy (%)",
    "mfu_pct": "MFU (%)",
    "mbu_pct": "MBU (%)",
    "ipw": "IPW (1/W)",
    "ipj": "IPJ (1/J)",
}
_STATISTICS: Final = ("mean", "median", "min", "max", "std")
_SOURCES: Final = {
    "nvml": "measured by NVML",
    "amdsmi": "measured by AMD SMI",
    "dcgm": "measured by DCGM",
    "amd_exporter": "measured by AMD's exporter",
    "intel_exporter": "measured by Intel's exporter",
    "declared": "from a declared power, not measured",
}


def sections(report: Report, *, width: int) -> Iterator[Sequence[RenderableType]]:
    """The server's side and the energy of a run, where available."""
    if report.server_side is not None and report.server_side.readings:
        yield list(_server(report.server_side, width))
    if report.energy is not None:
        yield list(_energy(report.energy, width))


def _server(side: ServerSide, width: int) -> Iterator[RenderableType]:
    yield from tables(*([compared(side)] if side.compared else []), width=width)
    yield block(text(server(side)), sentence(*gauges(side)))


def server(side: ServerSide) -> str:
    """The server's name."""
    return _ENGINES.get(side.engine or "", side.engine or "Server")


def gauges(side: ServerSide) -> list[str]:
    """The server's gauges, in words."""
    parts = (
        _gauge("running", side.running_mean, side.running_max),
        _gauge("waiting", side.waiting_mean, side.waiting_max),
        ""
        if side.kv_cache_usage_max_pct is None
        else f"KV cache max {figure(side.kv_cache_usage_max_pct)} %",
        "" if side.prefix_hit_pct is None else f"prefix cache hits {figure(side.prefix_hit_pct)} %",
        "" if side.preemptions is None else f"{whole(side.preemptions)} preemptions",
    )
    return [part for part in parts if part]


def _gauge(name: str, mean: float | None, highest: float | None) -> str:
    return "" if mean is None else f"{name} mean {figure(mean)}, max {figure(highest)}"


def compared(side: ServerSide) -> Table:
    """Each quantity as measured by both sides, with the difference and the agreement."""
    names = [
        "server_side",
        *(["completed_inputs"] if any(row.quantity == INPUTS for row in side.compared) else []),
    ]
    return Table(_COLUMNS, tuple(map(_row, side.compared)), sql=";\n\n".join(map(statements.figures, names)))


def _row(row: SideBySide) -> tuple[Cell, ...]:
    by_server = figure(row.server)
    if row.server is None and row.server_low is not None:
        by_server = between(figure(row.server_low), figure(row.server_high or None))
    # A µs; smaller differences are rounding.
    off = None if row.difference is None else round(row.difference, 3) or 0.0
    difference = "" if off is None else f"{'+' if off > 0 else ''}{fixed(off, min(decimals(off), 3))}"
    share = (
        "" if row.share is None or not off else f" ({'+' if row.share > 0 else ''}{percent(row.share, 1)})"
    )
    return (
        row.quantity,
        NOTHING if row.client is None else figure(row.client),
        by_server,
        difference + share,
        "" if row.agrees is None else Mark("agree") if row.agrees else Mark("DISAGREE", "doubt"),
    )


def _energy(energy: Energy, width: int) -> Iterator[RenderableType]:
    yield block("Energy", *map(text, energy_lines(energy)))
    if (of_requests := per_request(energy)).rows:
        yield from tables(of_requests, width=width)


def energy_lines(energy: Energy) -> Iterator[str]:
    """The energy in the window, by use, per right answer, and the method of measurement."""
    parts = (
        "" if energy.window_joules is None else f"{_small(energy.window_joules)} J",
        "" if energy.mean_watts is None else f"mean {_small(energy.mean_watts)} W",
        ""
        if energy.joules_per_output_token is None
        else f"{_small(energy.joules_per_output_token)} J per output token",
        "" if energy.joules_per_request is None else f"{_small(energy.joules_per_request)} J per request",
    )
    if any(parts):
        yield ", ".join(part for part in parts if part)
    yield (
        f"of {_small(energy.total_joules)} J observed {_small(energy.measured_joules)} J for measured "
        f"requests, {_small(energy.other_joules)} J for others, {_small(energy.idle_joules)} J idle"
    )
    for task in energy.tasks:
        if task.joules_per_correct is not None and task.correct is not None:
            yield (
                f"{task.task}: {_small(task.joules_per_correct)} J per correct answer "
                f"({whole(task.correct)} correct)"
            )
    method = "" if energy.method == energy.source else f", by {energy.method}"
    yield f"{_SOURCES.get(energy.source, energy.source)}, {counted(energy.devices, 'device')}{method}"


def per_request(energy: Energy) -> Table:
    """The energy figures of measured requests that completed."""
    rows = tuple(
        (label, *(_small(getattr(stats, name)) for name in _STATISTICS))
        for column, label in _PER_REQUEST.items()
        if (stats := energy.stats.get(column)) is not None
    )
    return Table(headed("Per request", *_STATISTICS), rows, sql=statements.request_energy())


def _small(value: float | None) -> str:
    """Three significant digits, also for values far below 1, such as joules per token."""
    if value is None or abs(value) >= 1:
        return figure(value)
    return as_written(float(f"{value:.3g}"))
