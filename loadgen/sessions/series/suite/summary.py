"""What the runs of a suite amount to together: files with a row for each run, and a sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import printable
from loadgen.sessions.gating.outcome import gravest
from loadgen.sessions.series.rows import result, rows
from loadgen.sessions.series.runner import SUMMARY
from loadgen.sessions.series.series import lay
from loadgen.sessions.series.spreadsheet import lay_csv
from rulesets.verdict import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.series.outcome import PointOutcome, SeriesResult
    from loadgen.sessions.series.series import Series

CSV: Final = "summary.csv"
_VERDICTS: Final[dict[int, str]] = {code: status for status, code in EXIT_CODES.items()}
"""Of all runs together, by the gravest exit code."""


def summed_up(folder: Path, series: Series, ended: SeriesResult) -> dict[str, Any]:
    """Write `summary.json` and `summary.csv` into the suite's folder.

    Returns:
        What `summary.json` says.
    """
    content = document(folder, series, ended)
    lay(folder / SUMMARY, content)
    lay_csv(folder / CSV, content["points"])
    return content


def document(folder: Path, series: Series, ended: SeriesResult) -> dict[str, Any]:
    """What `summary.json` says."""
    return {
        "kind": series.kind,
        "suite": series.definition["name"],
        "description": series.definition["description"],
        "planned": len(series.points),
        "exit_code": ended.exit_code,
        "verdict": verdict(ended.outcomes),
        "required": required(ended.outcomes),
        "points": rows(ended.outcomes, folder),
    }


def verdict(outcomes: Sequence[PointOutcome]) -> str | None:
    """The gravest verdict of the runs; None where nothing was required of any of them."""
    if all(one.report.verdict is None for one in outcomes):
        return None
    return _VERDICTS.get(gravest(one.exit_code for one in outcomes), "INVALID")


def required(outcomes: Sequence[PointOutcome]) -> list[str]:
    """Every target that a run was held against, each once."""
    verdicts = (one.report.verdict for one in outcomes)
    return list(dict.fromkeys(row.target for whole in verdicts if whole for row in whole.rows if row.target))


def sentence(outcomes: Sequence[PointOutcome]) -> str:
    """Whether what was required was met, by how many runs; empty where there is none yet."""
    if not outcomes:
        return ""
    whole = verdict(outcomes)
    results = Counter(result(one) or "valid" for one in outcomes)
    counts = ", ".join(f"{number} {word}" for word, number in results.most_common())
    if whole is None:
        return f"Nothing was required: {counts}"
    asked = ", ".join(required(outcomes))
    return printable(f"{whole}: {counts}" + (f" (required: {asked})" if asked else ""))
