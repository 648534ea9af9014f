"""`loadgen list runs`: the runs and the series of a folder, the newest last, from files alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import orjson

from loadgen.cli.terminal.show import page
from reporter.render.score_tables import value_in_words
from reporter.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.run_list import Listed


def show(runs: Sequence[Listed], *, json: bool) -> str:
    """The list as a table, or as JSON."""
    if json:
        return orjson.dumps([asdict(run) for run in runs], option=orjson.OPT_INDENT_2).decode() + "\n"
    from reporter.render.console_page import draw, tables, text

    columns = [
        Column("started", 3, justify="left"),
        Column("run", justify="left", folds=True, least=26),
        Column("model", 5, justify="left"),
        Column("kind", 6, justify="left"),
        Column("load", 2, justify="left"),
        Column("requests", 4),
        Column("req/s", 1),
        Column("TTFT\np50 ms", 1),
        Column("score", 1),
        Column("state", justify="left"),
    ]
    shown = page()
    rows = list(map(_cells, runs))
    used = [
        number for number, column in enumerate(columns) if not column.rank or any(row[number] for row in rows)
    ]
    cells = tuple(tuple(row[number] for number in used) for row in rows)
    table = Table(tuple(columns[number] for number in used), cells)
    notes = [text(f"{run.folder}: {run.state}: {run.why}") for run in runs if run.why is not None]
    return draw([tables(table, width=shown["width"]), notes], **shown)


def _cells(run: Listed) -> list[str]:
    return [
        (run.started_at or "")[:16].replace("T", " "),
        run.folder,
        run.model or "",
        run.kind or "",
        run.load or "",
        "" if run.requests is None else f"{run.requests:,}",
        "" if run.qps is None else f"{run.qps:,.2f}",
        "" if run.ttft_p50_ms is None else f"{run.ttft_p50_ms:,.1f}",
        "" if run.score is None else value_in_words(run.score, run.score_unit or ""),
        run.state,
    ]
