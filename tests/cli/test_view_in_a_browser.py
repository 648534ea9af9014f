"""`loadgen view` in Chromium: the list sorts and filters, runs in progress update, nothing complains."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from recorder import EventRecorder, EventType
from rulesets import of_expressions
from tests.accessibility import WIDTHS, violations_in_all_pairs
from tests.controls import BOTH, operate_all

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=window.pwned=1>\x1b[31m"
MS = 1_000_000

TEN_TIMES_AS_OFTEN = """{
  const later = window.setTimeout;
  window.setTimeout = (work, ms, ...values) => later(work, ms / 10, ...values);
}"""
"""A script that makes pages wait a tenth of their time before they look again."""


class Tab:
    """A tab that was let in, with what it complained of and asked for."""

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.origin = url.partition("?")[0]
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add("/".join(request.url.split("/")[:3]) + "/"))
        self.page.goto(url)

    def column(self, number: int) -> list[str]:
        """The visible cells of a column of the list."""
        cells = self.page.locator(f"#runs tbody tr:visible td:nth-child({number})")
        return [str(text) for text in cells.all_inner_texts()]


@pytest.fixture
def runs(made_run: Path, tmp_path: Path) -> Path:
    """Three runs of one log, whose reports name other models and rates."""
    for name, model, qps in (("a", "zeta", 9.0), ("b", HOSTILE, 10.5), ("c", "alpha", None)):
        folder = tmp_path / "runs" / name
        shutil.copytree(made_run, folder)
        report = orjson.loads((folder / "report.json").read_bytes())
        report["run"]["model"], report["throughput"]["qps"] = model, qps
        (folder / "report.json").write_bytes(orjson.dumps(report))
    return tmp_path / "runs"


@pytest.fixture
def open_tab(
    browser: Any, runs: Path, start_loadgen: Callable[..., subprocess.Popen[str]]
) -> Iterator[Callable[..., Tab]]:
    """Open the list in its own browser."""
    process = start_loadgen("view", str(runs), "--no-browser")
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    contexts = []

    def opened(width: int = 1280, scheme: str = "light") -> Tab:
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme))
        contexts[-1].add_init_script(TEN_TIMES_AS_OFTEN)
        return Tab(contexts[-1], url)

    yield opened
    for context in contexts:
        context.close()
    process.terminate()
    process.communicate()


def test_every_page_is_quiet_and_accessible(open_tab: Any, runs: Path, swept: Path) -> None:
    """No complaint, no other host, nothing too wide, no script in a model's name, no violation of axe.

    Every control has an effect, by keys and by the mouse; Ctrl+Enter runs a query.
    """
    for name in ("sweep", "again"):
        shutil.copytree(swept, runs / name)
    tab = open_tab()
    for path in (
        "",
        "sql?run=a&query=SELECT+*+FROM+samples",
        "sql?run=a&query=nonsense",
        "request?run=a&id=1",
        "run/none",
        "run/sweep",
        "compare?run=sweep&run=again",
        "compare?run=a&run=b",
    ):
        tab.page.goto(tab.origin + path)
        assert violations_in_all_pairs(tab.page) == []
        assert tab.page.evaluate("document.documentElement.scrollWidth") == WIDTHS[-1]
    for path in ("", "request?run=a&id=1", "sql"):
        for by in BOTH:
            tab.page.goto(tab.origin + path)
            assert operate_all(tab.page, by, "main")
    tab.page.get_by_label("Query").press("Control+Enter")
    tab.page.get_by_text("1 row", exact=True).wait_for()
    assert tab.page.evaluate("window.pwned") is None
    assert [text for text in tab.complaints if "404" not in text] == []
    assert tab.hosts == {tab.origin}


def test_the_list_sorts_and_filters(open_tab: Any) -> None:
    """By figures as numbers, runs without one last; by words; the filter takes several words."""
    tab = open_tab()
    rate = tab.page.get_by_role("button", name="req/s")
    rate.click()
    assert tab.column(8) == ["9.00", "10.50", ""]
    rate.click()
    assert tab.column(8) == ["10.50", "9.00", ""]
    tab.page.get_by_role("button", name="run", exact=True).click()
    assert tab.column(3) == ["a", "b", "c"]
    tab.page.get_by_label("Filter").fill("closed ALPHA")
    assert tab.column(3) == ["c"]
    assert tab.page.locator("#count").inner_text() == "1 of 3 runs"


def test_two_chosen_runs_are_compared(open_tab: Any) -> None:
    """The button needs two, also by keys; the page names both."""
    tab = open_tab()
    button = tab.page.get_by_role("button", name="Compare")
    tab.page.get_by_label("compare a").check()
    assert button.is_disabled()
    tab.page.get_by_label("compare c").press("Space")
    button.press("Enter")
    tab.page.wait_for_url(re.compile(r"/compare\?run=\w&run=\w"))
    assert "a vs c" in tab.page.inner_text("h1") or "c vs a" in tab.page.inner_text("h1")


def test_a_run_in_progress_updates(open_tab: Any, runs: Path) -> None:
    """It appears in the list, its figures follow the log, and its report replaces them when it has ended."""
    tab = open_tab()
    settings: dict[str, Any] = {"command": "perf", "model": "m", "load": {"kind": "closed", "concurrency": 1}}
    settings["ruleset"] = of_expressions(["error<1%"]).to_dict()
    with EventRecorder(path=runs / "now" / "events.db", settings=settings) as recorder:
        record = recorder.record_event

        def answered(number: int) -> None:
            issued = {"phase": "performance", "scheduled_ns": number * MS}
            record(EventType.LOADGEN_ISSUE_CALLED, number * MS, str(number), data=issued)
            record(EventType.REQUEST_SENT, number * MS, str(number), data={"reused": True})
            data = {"first_byte_ns": number * MS, "output_tokens": 1, "input_tokens": 1, "stream": False}
            record(EventType.COMPLETE, number * MS, str(number), data=data)
            recorder.wait_for_writes()

        record(EventType.TEST_STARTED, 0)
        record(EventType.PHASE_STARTED, 0, data={"phase": "performance", "requests": 2})
        answered(1)
        tab.page.get_by_role("link", name="now").click()
        tab.page.get_by_text("1 of 2 requests", exact=True).wait_for()
        tokens = tab.page.get_by_role("group", name="Output tokens per second over time")
        assert tokens.is_hidden()
        tab.page.get_by_text("holds so far").wait_for()
        answered(1200)
        tokens.locator(".canvas svg").wait_for()
        assert violations_in_all_pairs(tab.page) == []
        assert tab.page.get_by_role("group", name="TTFT and failures over time").is_hidden()
        assert tab.page.evaluate("document.documentElement.scrollWidth") == WIDTHS[-1]
        tab.page.get_by_role("link", name="Its report so far").click()
        tab.page.get_by_text("STILL RUNNING").wait_for()
        tab.page.go_back()
        tokens.locator(".canvas svg").wait_for()
        record(EventType.STOP_PERFORMANCE_TRACKING, 9 * MS, data={"scheduled": 2, "reason": "requests"})
        record(EventType.PHASE_ENDED, 9 * MS, data={"phase": "performance"})
        record(EventType.TEST_ENDED, 9 * MS, data={"reason": "completed"})
    tab.page.get_by_role("heading", name="Figures").wait_for()
    assert tab.page.locator("#live").count() == 0
