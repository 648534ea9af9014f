"""The list of runs, as the template shows it."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from lazy_dataclasses import dataclass, replace
from loadgen.sessions.run_list import ACCEPTED, RUNNING, Listed
from reporter.render.console_page import clean
from reporter.render.score_tables import value_in_words


@dataclass(frozen=True, slots=True)
class ViewCell:
    """A cell."""

    text: str
    value: str
    is_figure: bool = False
    link: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class ViewRow:
    """A run or a series: its name, its state, and a cell for each of `COLUMNS`."""

    folder: str
    state: str
    can_be_compared: bool
    cells: tuple[ViewCell, ...]


COLUMNS: Final = {
    "started (UTC)": False,
    "run": False,
    "model": False,
    "kind": False,
    "load": False,
    "requests": True,
    "req/s": True,
    "tok/s": True,
    "TTFT p50, ms": True,
    "TTFT p99, ms": True,
    "failed": True,
    "score": True,
    "state": False,
}
"""The headings, and whether their cells are figures."""
_TONES: Final = {
    "valid": "good",
    "PASS": "good",
    "FAIL": "bad",
    "INVALID": "bad",
    "OVERLOADED": "bad",
    "damaged": "bad",
    "complete": "good",
    "incomplete": "doubt",
    "INCONCLUSIVE": "doubt",
    ACCEPTED: "doubt",
    RUNNING: "doubt",
}


def row_of(run: Listed) -> ViewRow:
    """The row of a run."""
    return ViewRow(
        folder=run.folder,
        state=run.state,
        can_be_compared=run.why is None,
        cells=(
            _words((run.started_at or "")[:16].replace("T", " ")),
            ViewCell(clean(run.folder), run.folder, link=address(run.folder)),
            _words(run.model),
            _words(run.kind),
            _words(run.load),
            _figure(run.requests, ",d"),
            _figure(run.qps, ",.2f"),
            _figure(run.output_tps, ",.1f"),
            _figure(run.ttft_p50_ms, ",.1f"),
            _figure(run.ttft_p99_ms, ",.1f"),
            _figure(run.failed, ",d"),
            _score(run),
            ViewCell(
                clean(run.state if run.why is None else f"{run.state}: {run.why}"),
                run.state,
                tone=_TONES.get(run.state.partition(",")[0], ""),
            ),
        ),
    )


def address(folder: str) -> str:
    """Where the page of a run is."""
    return f"/run/{quote(folder)}"


def _words(text: str | None) -> ViewCell:
    return ViewCell(clean(text or ""), text or "")


def _score(run: Listed) -> ViewCell:
    shown = "" if run.score is None else value_in_words(run.score, run.score_unit or "")
    return replace(_figure(run.score, ""), text=shown)


def _figure(value: float | None, form: str) -> ViewCell:
    shown = "" if value is None else format(value, form)
    return ViewCell(shown, "" if value is None else repr(value), is_figure=True)
