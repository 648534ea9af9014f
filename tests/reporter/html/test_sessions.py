"""Sessions of a fixed log: their figures in text, JSON and HTML, and the drawing of sessions in a browser."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
import pytest

from loadgen.sessions.run.report_of_log import opened_report
from recorder import EventType
from reporter.contents.run_contents import run_contents
from reporter.contents.session_lanes import LaneTurn
from reporter.measured.session_rates import session_rate
from reporter.render import session_tables
from reporter.render.console_page import draw
from reporter.render.html import page_writer, swim_lanes
from reporter.render.html.page import Page
from reporter.render.html.run_page import render
from rulesets import of_expressions
from rulesets.statistics import student
from tests import golden
from tests.accessibility import violations_in_all_pairs
from tests.controls import BOTH, operate_all
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report
    from reporter.values.session_figures import Sessions
    from rulesets.evidence import Rate
    from tests.reporter.conftest import Run

GOLDEN = Path(__file__).parent / "golden"
SESSIONS = 10
SPEED = 10
LEVEL = 0.95


class Turn(NamedTuple):
    """A request of a session; times are ms after its begin, and `by` is what a slower session adds."""

    stream: int
    after: tuple[int, ...]
    delay_ms: int
    at_ms: int
    ended_ms: int
    tokens: tuple[int, int]
    extends: int | None = None
    by: int = 0


TURNS = (
    Turn(0, (), 0, 0, 100, (2048, 0)),
    Turn(1, (0,), 20, 120, 180, (1024, 512)),
    Turn(1, (1,), 10, 190, 240, (2048, 1024), 1, by=1),
    Turn(0, (0, 2), 40, 280, 380, (4096, 2048), 0, by=2),
)
"""A main agent of two turns, the second of which waits 140 ms and more for a subagent of two."""


def _turns_of(run: Run, number: int) -> None:
    """A session that is 20 ms slower than the one before; of the last two, the last turn misses the cache."""
    begin_ms, slower_ms = 1000.0 * number + 1, 20 * number
    for place, turn in enumerate(TURNS):
        at_ms = begin_ms + turn.at_ms + slower_ms * (turn.by == 2)
        ended_ms = begin_ms + turn.ended_ms + slower_ms * (turn.by > 0)
        prompt, prefix = turn.tokens
        tree = {
            "session": f"session {number}",
            "stream": turn.stream,
            "parent": 0 if turn.stream else None,
            "depth": turn.stream,
            "agent": "Explore" if turn.stream else None,
            "after": list(turn.after),
            "delay_ms": turn.delay_ms,
            "tool_ms": turn.delay_ms / 2,
            "start_ms": SPEED * turn.at_ms,
            "end_ms": SPEED * turn.ended_ms,
            "extends": turn.extends,
            "prefix_tokens": prefix,
            "block_tokens": prompt,
            "input_tokens": prompt,
            "output_tokens": 16,
        }
        about = {"conversation": f"c{number}", "prompt_id": number, "turn": place, "turns": len(TURNS)}
        about["tags"] = {"class": ("even", "odd")[number % 2]}
        is_lost = number >= SESSIONS - 2 and place == len(TURNS) - 1
        run.answers(
            *(at_ms + 30, ended_ms),
            at_ms=at_ms,
            usage=(prompt, 16),
            cached_tokens=0 if is_lost else prefix,
            uuid=f"request {number} {place}",
            issue={"about": {**about, "tree": tree}, "sent": at_ms + 1},
        )
    run.session(
        EventType.TREE_ENDED,
        ended_ms,
        conversation=f"c{number}",
        session=f"session {number}",
        prompt_id=number,
        phase="performance",
        scheduled_ns=ns(begin_ms),
        begun_ns=ns(begin_ms),
        turns=len(TURNS),
        ending="completed",
    )


class Made(NamedTuple):
    """A report of sessions, its figures and its page."""

    report: Report
    sessions: Sessions
    html: str
    rates: tuple[Rate, Rate]


@pytest.fixture(scope="module")
def made(a_run: Callable[..., Run]) -> Made:
    """Ten sessions, one after the other."""
    run = a_run()
    run.settings["session_trees"] = {"speed": SPEED}
    for number in range(SESSIONS):
        _turns_of(run, number)
    rules = ("jobs_per_hour>=100@lcl95", "hit_rate>=0.5@lcl95", "session_error<50%@ucl95")
    folder = run.stops(10_000).ends(10_100).write()
    with opened_report(folder, of_expressions(rules)) as (report, evidence):
        assert report.sessions is not None
        of_arrivals = replace(report, run=replace(report.run, load={"kind": "poisson", "rate": 1}))
        rates = [session_rate(evidence.log, each, "jobs_per_hour") for each in (report, of_arrivals)]
        html = render(report, contents=run_contents(report, evidence))
        return Made(report, report.sessions, html, (rates[0], rates[1]))


def test_the_figures_in_text_json_and_html(made: Made) -> None:
    """As the golden files have them."""
    head = [[session_tables.summary(made.sessions)]]
    golden.check(
        GOLDEN / "sessions.txt",
        draw([*head, *session_tables.sections(made.sessions, width=100)], width=100, color=False),
    )
    golden.check(
        GOLDEN / "sessions.json", orjson.dumps(asdict(made.sessions), option=orjson.OPT_INDENT_2).decode()
    )
    sections = re.findall(r'<section id="session.*?</section>', made.html, re.DOTALL)
    golden.check(GOLDEN / "sessions.html", re.sub(r"<pre.*?</pre>", "", "\n".join(sections), flags=re.DOTALL))


def test_the_figures_are_those_of_the_log(made: Made) -> None:
    """Computed by hand: durations, joins, reuse, fidelity, jobs per hour and their limit."""
    sessions, figures = made.sessions, made.sessions.figures
    durations_ms = [380 + 20 * number for number in range(SESSIONS)]
    mean_ms = sum(durations_ms) / SESSIONS
    assert (figures["session_ms"].mean, figures["session_ms"].max) == (mean_ms, durations_ms[-1])
    assert figures["join_wait_ms"].mean == pytest.approx(140 + 90)
    assert figures["critical_ms"].mean == pytest.approx(mean_ms - 20 - 10 - 40)
    assert sessions.jobs_per_hour_per_user == pytest.approx(3.6e6 / mean_ms)
    assert sessions.overtaken_turns == 0
    reused = 8 * (1024 + 2048) + 2 * 1024
    assert sessions.measured_hit_rate == pytest.approx((reused + SESSIONS * 512) / (SESSIONS * 9216))
    assert sessions.reused_rate == pytest.approx(reused / (SESSIONS * (1024 + 2048)))
    assert (sessions.reusing_turns, sessions.lost_turns) == (2 * SESSIONS, 2)
    assert sessions.fidelity["delay_ms"].off_max == pytest.approx(0, abs=1e-6)
    assert sessions.fidelity["session_ms"].ratio == pytest.approx(mean_ms / 380)
    assert made.report.verdict is not None
    jobs = made.report.verdict.rows[0]
    far = student.bound(2 * LEVEL - 1, SESSIONS - 1) * stdev(durations_ms) / mean_ms / sqrt(SESSIONS)
    assert jobs.observed == sessions.jobs_per_hour
    # The durations grow, so that neighbours are merged into five blocks: the limit is further away.
    assert jobs.limit is not None
    assert jobs.observed is not None
    assert 0.5 * jobs.observed < jobs.limit < jobs.observed * (1 - far)


def test_the_values_behind_a_rate_have_it_as_their_mean(made: Made) -> None:
    """Of users, a value a session; of arrivals, the completions in spans of time."""
    of_users, of_arrivals = made.rates
    assert (len(of_users.series), len(of_users.blocks)) == (SESSIONS, SESSIONS)
    assert fmean(of_users.series) == pytest.approx(of_users.value)
    assert of_users.series[0] > of_users.series[-1]
    assert len(of_arrivals.blocks) == 2
    assert fmean(of_arrivals.blocks) == pytest.approx(made.sessions.jobs_per_hour)


def test_a_session_of_a_thousand_requests_is_small() -> None:
    """Below 60 kB, and its agents share rows where they do not overlap."""
    turns = [
        LaneTurn(
            sample_uuid=f"request {number}",
            is_failed=False,
            endpoint="http://127.0.0.1:8000",
            tags="{}",
            place=1,
            session_id="s",
            ending="completed",
            duration_ms=9e6,
            agent=None,
            turn=number,
            stream=number % 40,
            parent=0 if number % 40 else None,
            own_ready_ms=None if number < 40 else 9000.0 * (number - 40) + 8000,
            ready_ms=9000.0 * number - 300.0 if number else None,
            tool_ms=200.0,
            scheduled_ms=9000.0 * number,
            sent_ms=9000.0 * number + 5,
            first_token_ms=9000.0 * number + 1000,
            ended_ms=9000.0 * number + 8000,
            waited_for=number - 1 if number else None,
            input_tokens=120_000,
            cached_tokens=118_000,
            output_tokens=900,
        )
        for number in range(1000)
    ]
    with_it, without = (
        page_writer.write(Page("x", (), (), (swim_lanes.section(each, 1),))) for each in ([turns], [])
    )
    assert len(with_it) - len(without) < 60_000
    (drawn,) = swim_lanes.section([turns], 1).sessions
    assert drawn.facts == "2 h 30 min, 1,000 requests, 40 agents, 8 of them not drawn"
    one_by_one = [
        replace(turn, stream=turn.turn // 25, parent=0 if turn.turn >= 25 else None) for turn in turns
    ]
    assert swim_lanes.section([one_by_one], 1).sessions[0].names == ("main", "\u2514 subagent \u00d739")


def _zooms(tab: Any, drawing: Any) -> None:
    """A drag, buttons, the wheel and keys zoom; the axis has the moments of the shown part."""

    def shown() -> tuple[float, ...]:
        left, _, width, _ = map(float, drawing.get_attribute("viewBox").split())
        return left, left + width

    def moments() -> list[float]:
        labels = tab.locator(".session .axis").first.locator("span").all_inner_texts()
        seconds = [float(label.removesuffix(" s")) for label in labels]
        step = seconds[1] - seconds[0]
        assert f"{step:.0e}"[0] in "125"
        first = round(seconds[0] / step)
        assert seconds == pytest.approx([step * (first + number) for number in range(len(seconds))])
        return seconds

    whole, box = shown(), drawing.bounding_box()
    at_first = moments()
    assert at_first[0] == 0
    tab.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 10)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 15, steps=3)
    tab.mouse.up()
    assert shown() == pytest.approx((whole[1] / 4, whole[1] / 2), rel=0.01)
    assert 0 < moments()[0] < moments()[-1] < at_first[-1]
    drawing.dblclick(position={"x": 5, "y": 5})
    assert shown() == whole
    zoom_in, zoom_out = (tab.locator(f"[data-zoom='{factor}']").first for factor in ("0.5", "2"))
    for closer, further in (
        (zoom_in.click, zoom_out.click),
        (partial(tab.keyboard.press, "+"), partial(tab.keyboard.press, "0")),
    ):
        tab.locator(".session .scroll").first.focus()
        closer()
        assert shown()[1] - shown()[0] == pytest.approx(whole[1] / 2)
        further()
        assert shown() == whole


def _colors_of_requests(tab: Any) -> None:
    """The colors of all requests of the run are those of parts, or of a tag."""
    tab.locator("a[href='#request-lanes']").click()
    section = tab.locator("#request-lanes")
    assert section.locator("path.decode").last.get_attribute("d").count("M") == SESSIONS * len(TURNS)
    section.locator("[data-color]").select_option("class")
    assert section.locator(".values").inner_text().split() == ["even", "odd"]
    assert section.locator("path.decode").count() == 1  # of the legend
    assert section.locator("path.v2").last.get_attribute("d").count("M") == SESSIONS * len(TURNS) // 2


def test_a_request_says_its_figures(made: Made, browser: Any, tmp_path: Path) -> None:
    """By the pointer, keys and a click; zoom and colors; on a phone; without scripts; axe finds nothing."""
    page = tmp_path / "page.html"
    page.write_text(made.html, encoding="utf-8")
    for scheme, width, has_scripts in (("light", 1400, True), ("dark", 390, True), ("light", 390, False)):
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, java_script_enabled=has_scripts
        )
        tab = context.new_page()
        tab.goto(page.as_uri())
        drawing, output = tab.locator("svg[data-turns]").first, tab.locator(".session output").first
        drawing.scroll_into_view_if_needed()
        assert drawing.locator("path").count() >= 5
        assert tab.locator(".swim .names").first.inner_text().split() == ["main", "\u2514", "Explore"]
        if scheme == "light" and has_scripts:
            drawing.hover(position={"x": 3, "y": 10})
            assert output.inner_text().startswith("Turn 1 of main at 0.001 s · queue 1 ms · TTFT 29 ms")
            _zooms(tab, drawing)
            box = drawing.bounding_box()
            tab.locator("[data-color]").first.select_option("agent")
            assert tab.locator(".values").first.inner_text().split() == ["Explore", "main"]
            assert drawing.locator(".v1").get_attribute("d").count("M") == 2
            drawing.click(position={"x": box["width"] * 0.25, "y": 30})
            assert "of Explore" in output.inner_text()
            assert "agent Explore" in output.inner_text()
            assert "loadgen request RUN 'request 9 1'" in tab.locator(".lead").inner_text()
            tab.locator(".session .scroll").first.focus()
            tab.keyboard.press("ArrowRight")
            tab.keyboard.press("ArrowLeft")
            drawing.click(position={"x": box["width"] * 0.55, "y": 30})
            row = tab.locator('[data-request="request 9 2"]')
            assert not row.is_visible()
            tab.locator(".lead button").click()
            assert row.locator(".more").is_visible()
            _colors_of_requests(tab)
            for by in BOTH:
                tab.reload()
                operate_all(tab, by, "#session-lanes")
        elif has_scripts:
            tab.locator(".session .scroll").first.focus()
            tab.keyboard.press("ArrowRight")
            tab.keyboard.press("ArrowRight")
            assert "Turn 4 of main" in output.inner_text()
            assert "waited for agents 320 ms · delay 40 ms" in output.inner_text()
            for key in ("ArrowRight", "ArrowRight", "Enter", "Tab", "Enter"):
                tab.keyboard.press(key)
            assert tab.locator('[data-request="request 9 2"] .more').is_visible()
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
        if scheme == "dark":
            tab.evaluate(
                "document.querySelectorAll('main > section:not(#session-lanes)').forEach(it => it.remove())"
            )
            assert violations_in_all_pairs(tab) == []
        context.close()
