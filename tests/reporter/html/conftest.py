"""A run with hostile texts, its page, and a browser to open it in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.run.repeat import repeat_command
from loadgen.sessions.run.report_of_log import opened_report
from recorder import EventType
from reporter.contents.run_contents import RunContents, run_contents
from reporter.render.html.run_page import render
from tests.reporter.accuracy.conftest import Benchmark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter.report import Report

HOSTILE = (
    "</script><script>window.pwned = 1</script>"
    "<img src=https://example.com/x.png onerror=window.pwned=2>"
    "\x1b[31mred\x1b[0m \u202egnp.exe\u202c ]]> --> {{ 7 * 7 }} {% raw %} &lt;b&gt; '\" \x00\ud800"
)
"""What a model, a user or a server may have written; a lone surrogate has no UTF-8."""

SAFE = HOSTILE.replace("\ud800", "")
"""The same as a log can have it."""

CLASSES = ("chat", "<b>code</b>")


@dataclass(frozen=True)
class MadePage:
    """A page and what it was made of."""

    run: Path
    report: Report
    contents: RunContents
    html: str
    path: Path


@pytest.fixture(autouse=True)
def _remembered(remembered_logs: None) -> None:
    """A log that is reported several times is loaded once, and its figures are computed once."""


def made_page(run: Path, path: Path) -> MadePage:
    """The page of a run, in a file."""
    with opened_report(run, None) as (report, evidence):
        contents = run_contents(report, evidence)
    command = f"loadgen report {run} --format html"
    html = render(report, contents=contents, command=command, repeat=repeat_command(run))
    path.write_text(html, encoding="utf-8")
    return MadePage(run, report, contents, html, path)


@pytest.fixture(scope="session")
def hostile_page(a_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> MadePage:
    """The page of 80 requests of two classes and 3 failures, with hostile texts everywhere."""
    run = a_run()
    run.settings |= {"model": f"model {SAFE}", "url": "http://127.0.0.1:1/<u>", "load": {"kind": "closed"}}
    run.settings |= {"command": "perf", "options": {"model": f"model {SAFE}", "requests": 83}}
    for number in range(80):
        at_ms = 25 * number
        run.answers(
            *(at_ms + 10 + number % 17 + 5 * chunk for chunk in range(2 + number % 9)),
            at_ms=at_ms,
            usage=(10 * number + 1, 2 + number % 9),
            texts={"output": f"{number} {SAFE}"},
            issue={
                "about": {"tags": {"class": CLASSES[number % 2], SAFE: "x" if number % 3 else SAFE}},
                "prompt": {"prompt": f"{number} {SAFE}"},
            },
        )
    for number in range(3):
        run.fails("http_500", at_ms=2000 + number, failed=2190, message=f"boom {SAFE}")
    run.session(EventType.FINDING, 2100, code="odd", severity="warning", message=SAFE, remedy=SAFE)
    folder = run.stops(2100).ends(2200).write()
    return made_page(folder, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="session")
def accuracy_page(a_run: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> MadePage:
    """The page of a run that asked 12 questions of two subjects."""
    asked = Benchmark(a_run()).asks(
        "gsm8k", 12, tags=lambda number: {"subject": ("algebra", SAFE)[number % 2]}, groups=["subject"]
    )
    for number in range(12):
        asked.answers(number, tokens=5)
    asked.scored(*(float(number % 3 != 0) for number in range(12)))
    return made_page(asked.write(), tmp_path_factory.mktemp("page") / "report.html")
