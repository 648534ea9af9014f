"""The summary of a suite: files with a row for each run, and a sentence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import printable
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.files.series_file import Series, write_json
from loadgen.sessions.series.run_rows import result, rows
from loadgen.sessions.series.run_series import SUMMARY
from loadgen.sessions.settings.verdict_options import most_severe
from reporter.render.series_overview import series_as_csv
from rulesets.verdict import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome, SeriesResult

CSV: Final = "summary.csv"
_VERDICTS: Final[dict[int, str]] = {code: status for status, code in EXIT_CODES.items()}
"""The verdict of all runs together, by the most severe exit code."""


def summed_up(folder: Path, series: Series, ended: SeriesResult) -> dict[str, Any]:
    """Write `summary.json` and `summary.csv` into the suite's folder."""
    content = document(folder, series, ended)
    write_json(folder / SUMMARY, content)
    write_whole(folder / CSV, series_as_csv(content["points"]).encode())
    return content


def document(folder: Path, series: Series, ended: SeriesResult) -> dict[str, Any]:
    """The content of `summary.json`."""
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
    """The most severe verdict of the runs; None where none had requirements."""
    if all(outcome.report.verdict is None for outcome in outcomes):
        return None
    return _VERDICTS.get(most_severe(outcome.exit_code for outcome in outcomes), "INVALID")


def required(outcomes: Sequence[PointOutcome]) -> list[str]:
    """Every target of the runs, each once."""
    verdicts = (outcome.report.verdict for outcome in outcomes)
    return list(dict.fromkeys(row.target for whole in verdicts if whole for row in whole.rows if row.target))


def sentence(outcomes: Sequence[PointOutcome]) -> str:
    """Whether the requirements were met, by how many runs; empty without a run."""
    if not outcomes:
        return ""
    whole = verdict(outcomes)
    results = Counter(result(outcome) or "valid" for outcome in outcomes)
    counts = ", ".join(f"{number} {word}" for word, number in results.most_common())
    if whole is None:
        return f"Nothing was required: {counts}"
    asked = ", ".join(required(outcomes))
    return printable(f"{whole}: {counts}" + (f" (required: {asked})" if asked else ""))
