"""What the runs of a suite amount to together, one row a run, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cli.series.running import SUMMARY
from cli.series.series import lay
from cli.series.spreadsheet import lay_csv
from cli.series.table import rows

if TYPE_CHECKING:
    from pathlib import Path

    from cli.series.outcome import Ended
    from cli.series.series import Series

CSV: Final = "summary.csv"


def summed_up(folder: Path, series: Series, ended: Ended) -> dict[str, Any]:
    """Lay `summary.json` and `summary.csv` into the suite's folder.

    Returns:
        What `summary.json` says.
    """
    told = {
        "kind": series.kind,
        "suite": series.definition["name"],
        "description": series.definition["description"],
        "planned": len(series.points),
        "exit_code": ended.exit_code,
        "points": rows(ended.outcomes, folder),
    }
    lay(folder / SUMMARY, told)
    lay_csv(folder / CSV, told["points"])
    return told
