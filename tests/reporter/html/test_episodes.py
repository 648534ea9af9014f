"""The episodes of a run: on its page with their queries, in Markdown, CSV and on the console."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.formats import render
from loadgen.sessions.run.report_of_log import opened_report
from recorder import EventType
from reporter.contents.run_contents import RunContents, run_contents
from reporter.render import report_markdown
from reporter.render.html.page import Tables
from reporter.render.html.run_page import page_of
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from reporter.episodes import Episodes
    from reporter.log.query import QueryResult
    from reporter.render.table import Table
    from reporter.report import Report

HOSTILE = "<script>look</script>"
"""A model can call a tool that does not exist by any name."""


@dataclass(frozen=True)
class Made:
    """A run with episodes, its report and its page."""

    run: Path
    report: Report
    contents: RunContents
    tables: Mapping[str, Table]

    @property
    def episodes(self) -> Episodes:
        """Those of the report."""
        assert self.report.episodes is not None
        return self.report.episodes


@pytest.fixture(scope="module")
def made(a_run: Callable[..., Any]) -> Made:
    """Four episodes of one to three turns of 100 ms, and a tool of 50 ms between; the last stays open."""
    run = a_run()
    for number, turns in enumerate((1, 2, 3, 1)):
        at_ms = 1000 * number + 1
        about = {"conversation": f"c{number}", "prompt_id": number, "episode": True}
        of_episode = {"conversation": f"c{number}", "prompt_id": number, "phase": "performance"}
        for turn in range(turns):
            asked_ms = at_ms + 150 * turn
            run.answers(
                *(asked_ms + 40, asked_ms + 100),
                at_ms=asked_ms,
                usage=(100 * (turn + 1), 2),
                issue={"about": {**about, "turn": turn}},
            )
            if turn + 1 < turns:
                timing = {"started_ns": ns(asked_ms + 100), "duration_ns": 50_000_000}
                name = HOSTILE if turn else "add"
                run.session(
                    EventType.TOOL_CALLED, asked_ms + 150, turn=turn, name=name, **of_episode, **timing
                )
        if number < 3:
            lasted_ms = 150 * turns - 50
            run.session(
                EventType.EPISODE_ENDED,
                at_ms + lasted_ms,
                ending="max_turns" if turns == 3 else "completed",
                begun_ns=ns(at_ms) - 500_000,
                started_ns=ns(at_ms),
                duration_ns=lasted_ms * 1_000_000,
                **of_episode,
            )
    folder = run.stops(3200).ends(3300).write()
    with opened_report(folder, None) as (report, evidence):
        contents = run_contents(report, evidence)
    sections = {section.anchor: section for section in page_of(report, contents).sections}
    section = sections["episodes"]
    assert isinstance(section, Tables)
    shares = ("model 85.0", "tools 15.0", "agent 0")
    assert section.notes == (f"On average: {', '.join(f'{share} % of the wall time' for share in shares)}.",)
    return Made(folder, report, contents, {table.columns[0].title: table for table in section.tables})


@pytest.mark.slow
def test_the_page_has_their_figures(made: Made) -> None:
    """How they ended, what one took, and each turn and tool."""
    assert made.tables["Ending"].rows == (("completed", "2"), ("max_turns", "1"), ("none", "1"))
    of_episodes = {row[0]: row[1:] for row in made.tables["Per episode"].rows}
    assert of_episodes["turns"] == ("2.00", "2.00", "2.98", "1.00", "3.00")
    names = ("tool calls", "duration (ms)", "set-up (ms)", "wall time (ms)", "output tokens")
    means = ["1.00", "250", "0.500", "250", "4.00"]
    assert [of_episodes[name][0] for name in names] == means
    assert [row[:2] for row in made.tables["Turn"].rows] == [("1", "4"), ("2", "2"), ("3", "1")]
    assert made.tables["Tool"].rows == (
        ("add", "2", "0", "50.0", "50.0"),
        (HOSTILE, "1", "0", "50.0", "50.0"),
    )


def test_their_figures_are_what_the_queries_answer(made: Made, ask: Callable[..., QueryResult]) -> None:
    """Row for row."""

    def rows(name: str) -> list[dict[str, Any]]:
        answer = ask(made.run, made.tables[name].sql)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]

    assert {row["ending"]: row["count"] for row in rows("Ending")} == made.episodes.endings
    means = {row["figure"]: row["mean"] for row in rows("Per episode")}
    assert means == {name: figure.mean for name, figure in made.episodes.figures.items()}
    assert [row["ttft_p50_ms"] for row in rows("Turn")] == [turn.ttft_p50_ms for turn in made.episodes.turns]
    assert [row["name"] for row in rows("Tool")] == [tool.name for tool in made.episodes.tools]


def test_other_formats_have_them(made: Made) -> None:
    """Names of tools are text and nothing else."""
    markdown = report_markdown.render(made.report, contents=made.contents)
    assert "**Episodes**" in markdown
    assert "| wall time (ms) | 250 |" in markdown
    page = render("report", "html", made.report)
    assert HOSTILE not in markdown + page
    rows = list(csv.DictReader(StringIO(render("report", "csv", made.report))))
    figures = {(row["metric"], row["statistic"]): row for row in rows if row["part"] == "episodes"}
    assert figures["endings", "completed"]["value"] == "2"
    assert (figures["wall_ms", "mean"]["value"], figures["wall_ms", "mean"]["unit"]) == ("250.0", "ms")
    assert "1 max_turns" in render("report", "text", made.report)
