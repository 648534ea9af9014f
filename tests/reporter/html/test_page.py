"""The page of a run as a file: whole, bounded, and without anything that hostile text could do."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.sessions.formats import render as render_as
from reporter.contents.example_requests import FAILED, SLOWEST
from reporter.contents.scored import ScoredSample, ScoredSamples
from reporter.contents.texts import Excerpt, excerpt
from reporter.plots.plot_value import Axis, Plot, PlotSeries
from reporter.render import compared
from reporter.render.html.comparison_page import page_of as comparison_page
from reporter.render.html.excerpts import SAMPLE_BYTES, failed, samples
from reporter.render.html.page import CardFigure, FigureCard, FigureCards, Page, PlotGroup, Plots, Tables
from reporter.render.html.page_writer import asset, write
from reporter.render.html.plot_data import as_json, as_tables
from reporter.render.html.visible import visible
from tests.conftest import ROOT
from tests.reporter.html.conftest import SAFE

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.log.query import QueryResult
    from tests.reporter.html.conftest import MadePage

MOST_BYTES = 1_000_000
ASSETS = ROOT / "page-assets"


class Elements(HTMLParser):
    """The start tags of a page, and the texts of its scripts and its style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.tags.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in {"script", "style"} else None

    def handle_endtag(self, _: str) -> None:
        """An element ends."""
        self._open = None

    def handle_data(self, data: str) -> None:
        """Its text."""
        if self._open:
            self.inline.append((*self._open, data))
        else:
            self.text += data


def policy_of(elements: Elements) -> dict[str, list[str]]:
    """The Content-Security-Policy by directive."""
    (content,) = [
        attributes["content"]
        for tag, attributes in elements.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    directives = (directive.split() for directive in (content or "").split(";"))
    return {name: sources for name, *sources in directives}


def unpacked(text: str) -> str:
    """The script that a page unpacks."""
    return gzip.decompress(base64.b64decode(text)).decode()


@pytest.mark.slow
def test_the_policy_allows_what_is_inside_and_nothing_else(hostile_page: MadePage) -> None:
    """Scripts and the style by their hashes; no attribute runs or loads anything."""
    elements = Elements(hostile_page.html)
    policy = policy_of(elements)
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for tag, attributes, text in elements.inline:
        if attributes.get("type") != "application/json" and attributes.get("id") != "plot-data":
            script = unpacked(text) if attributes.get("id") == "charts" else text
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            hashes[tag].append(f"'sha256-{digest}'")
    assert policy == {
        "default-src": ["'none'"],
        "script-src": hashes["script"],
        "style-src": hashes["style"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    assert len(hashes["script"]) == 2
    names = {name for _, attributes in elements.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")} | names & {"style", "src", "srcset"}
    assert {attributes["href"][:1] for tag, attributes in elements.tags if tag == "a"} == {"#"}  # type: ignore[index]
    assert not {"img", "link", "iframe", "object", "form", "base", "b"} - {"b"} & {
        tag for tag, _ in elements.tags
    }


def test_hostile_text_stays_text(hostile_page: MadePage) -> None:
    """In prompts, outputs, tags, errors, findings and names: as written, with escapes for what steers."""
    page = hostile_page.html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    elements = Elements(hostile_page.html)
    shown = visible(SAFE)
    assert "<script>window.pwned = 1</script>" in shown
    assert "\\u202egnp.exe\\u202c" in shown
    for where in ("model ", "boom ", "79 "):
        assert f"{where}{shown}" in elements.text, where
    assert page.count("<script") == 3  # data, the library packed, the page's
    assert "{{ 7 * 7 }}" in shown


def test_the_shown_requests_are_in_their_queries(
    hostile_page: MadePage, ask: Callable[..., QueryResult]
) -> None:
    """The slowest, and those that failed."""
    assert len(ask(hostile_page.run, SLOWEST).rows) == len(hostile_page.contents.slowest) == 20
    assert len(ask(hostile_page.run, FAILED).rows) == len(hostile_page.contents.failed) == 3


@pytest.mark.slow
def test_scores_are_on_the_page(accuracy_page: MadePage, ask: Callable[..., QueryResult]) -> None:
    """With their intervals, by subject, with samples of each outcome and the query of all."""
    text = Elements(accuracy_page.html).text
    score = accuracy_page.report.accuracy[0]
    assert score.interval is not None
    assert "66.67 %" in text
    assert f"[{100 * score.interval.low:.2f}, {100 * score.interval.high:.2f}]" in text
    assert "Accuracy by subject: gsm8k" in text
    samples = accuracy_page.contents.samples
    assert samples is not None
    assert {sample.outcome for sample in samples.samples} == {"correct", "incorrect"}
    assert len(samples.samples) == samples.n == len(ask(accuracy_page.run, samples.sql).rows) == 12
    assert accuracy_page.html.count('<details class="sample"') == 12


def test_a_page_is_small(hostile_page: MadePage, accuracy_page: MadePage) -> None:
    """Far below what a mail takes."""
    assert len(hostile_page.html.encode()) < MOST_BYTES
    assert len(accuracy_page.html.encode()) < MOST_BYTES


def test_a_report_alone_has_a_page(hostile_page: MadePage) -> None:
    """Without its log: figures, findings and tables, and no script."""
    html = render_as("report", "html", hostile_page.report)
    elements = Elements(html)
    assert "script" not in {tag for tag, _ in elements.tags}
    assert policy_of(elements)["script-src"] == ["'none'"]
    assert "Client overhead" in html


def test_the_plotting_library_is_the_recorded_one() -> None:
    """`make page-assets` builds exactly this file, of the versions in its package.json."""
    recorded, name = (ASSETS / "charts.sha256").read_text().split()
    assert name.endswith("assets/charts.min.js")
    assert hashlib.sha256(asset("charts.min.js").encode()).hexdigest() == recorded
    package = orjson.loads((ASSETS / "package.json").read_bytes())
    wanted = package["dependencies"] | package["devDependencies"]
    locked = orjson.loads((ASSETS / "package-lock.json").read_bytes())["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert f"ECharts {wanted['echarts']}" in (ROOT / "docs" / "report-html.md").read_text()


def test_the_plotting_library_evaluates_no_text() -> None:
    """Nor does it end the element that it is in."""
    for name in ("charts.min.js", "page.js"):
        assert not re.search(r"\bnew Function\b|\beval\(|</script|<!--", asset(name)), name


def plot_of(*series: PlotSeries, scale: str = "linear") -> Plot:
    """A plot of these series."""
    axis: Any = Axis("time", "s", scale)
    return Plot("a-plot", "A plot", axis, Axis("rate", "req/s"), series, "SELECT 1")


def section_of(plot: Plot) -> Plots:
    """A section with one plot."""
    return Plots("plots", "Plots", (PlotGroup(plot.title, (plot,)),), {})


def test_points_are_on_the_page_as_they_are() -> None:
    """With six digits, and what is not finite as a gap."""
    plot = plot_of(
        PlotSeries(f"rate {SAFE}", "band", (1.0, 2.5, 3.123456789), (4, None, float("inf")), (1.0,) * 3)
    )
    data = orjson.loads(as_json([section_of(plot)]))
    (series,) = data["plots"]["a-plot"]["series"]
    assert series == {
        "name": f"rate {visible(SAFE)}",
        "kind": "band",
        "x": [1, 2.5, 3.12346],
        "y": [4, None, None],
        "low": [1, 1, 1],
    }


@given(st.text())
def test_no_text_ends_the_element_of_the_data(text: str) -> None:
    """Whatever a series is called."""
    json = as_json([section_of(plot_of(PlotSeries(text, "line", (1.0,), (2.0,))))])
    assert not re.search("[<>&\u2028\u2029\u202e\x00-\x1f]", json)
    assert orjson.loads(json)["plots"]["a-plot"]["series"][0]["name"] == visible(text)


@given(st.text())
def test_visible_text_prints(text: str) -> None:
    """It has no control but line ends and tabs, and visible text stays as it is."""
    shown = visible(text)
    shown.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]", shown)
    assert visible(shown) == shown


def test_a_long_series_is_a_short_table() -> None:
    """Evenly spaced points, the first and the last included; series with the same places share a table."""
    places = tuple(float(number) for number in range(1000))
    plot = plot_of(PlotSeries("one", "line", places, places), PlotSeries("other", "line", places, places))
    (table,) = as_tables(plot)
    assert [column.title for column in table.columns] == [
        "time [s]",
        "one [req/s]",
        "other [req/s]",
    ]
    assert len(table.rows) == 40
    assert (table.rows[0][0], table.rows[-1][0]) == ("0", "999.0")
    assert table.caption == "40 of 1000 points"


def test_a_page_of_any_sections() -> None:
    """The frame is not of runs alone."""
    cards = FigureCards(
        "figures",
        "Figures",
        (
            FigureCard("A", (CardFigure("1", "ms", "p50"), CardFigure("2", "ms", "p99")), sql="SELECT 1"),
            FigureCard("B", (CardFigure("2"),)),
        ),
    )
    html = write(Page("title", (), ("line",), (cards, Plots("plots", "Plots", (), {}))))
    assert '<a href="#plots">Plots</a>' in html
    assert html.count("SELECT 1") == 1


def test_requests_without_tags_have_no_column_of_tags(hostile_page: MadePage) -> None:
    """A page without tags has no column of empty cells; a common date is in the note."""
    request = hostile_page.contents.failed[0]
    tagged, untagged = (failed([replace(request, tags=tags)], of=1) for tags in ('{"class": "chat"}', "{}"))
    further = [column for column in tagged.columns if column not in untagged.columns]
    assert [(column.title, column.has_words) for column in further] == [("tags", True)]
    assert tagged.rows[0].cells == (request.issued_at[11:23], "class=chat", *untagged.rows[0].cells[1:])
    assert tagged.note.endswith(f"Date: {request.issued_at[:10]}.")
    other = replace(request, sample_uuid="other", issued_at="2000-01-01 00:00:00.000000")
    assert failed([request, other], of=2).rows[1].cells[0] == other.issued_at[:23]


@pytest.mark.slow
def test_a_comparison_has_a_page(hostile_page: MadePage, accuracy_page: MadePage) -> None:
    """Its verdict, each change with its interval, and both figures."""
    from loadgen.sessions.compare_runs import compare_runs
    from loadgen.sessions.settings.compare import CompareSettings

    comparison = compare_runs(CompareSettings(runs=[hostile_page.run, accuracy_page.run]))
    html = render_as("comparison", "html", comparison)
    text = Elements(html).text
    assert comparison.status in text
    for row in comparison.rows:
        assert row.metric in text or not row.decides
    assert len(html) < 200_000
    assert html.count('<svg class="interval') == sum(
        change.by is not None for row in comparison.rows for change in row.changes
    )
    # Before, after and the change are in one row.
    page = comparison_page(comparison)
    (table,) = next(section for section in page.sections if isinstance(section, Tables)).tables
    before, after = (compared.label(comparison, side) for side in (0, 1))
    assert [column.title for column in table.columns[:4]] == ["metric", before, after, "change"]
    row = next(row for row in comparison.rows if row.decides)
    figures = compared.figures_table(comparison, [row], (0, 1)).rows[0]
    assert table.rows[0][:4] == (*figures, compared.by(row, row.changes[0].by))


def test_a_cumulative_distribution_is_shown_up_to_its_p99() -> None:
    """The slowest 1 % would take most of the axis; all points are there."""
    fast, slow = (
        PlotSeries(name, "step", places, (50.0, 99.0, 100.0))
        for name, places in (("fast", (1.0, 2.0, 900.0)), ("slow", (2.0, 3.5, 4.0)))
    )
    plots = [replace(plot_of(fast, slow), name=name) for name in ("ttft-cdf", "ttft-percentiles")]
    data = orjson.loads(as_json([section_of(plot) for plot in plots]))["plots"]
    assert data["ttft-cdf"]["upTo"] == 3.5
    assert data["ttft-cdf"]["series"][0]["x"] == [1, 2, 900]
    assert "upTo" not in data["ttft-percentiles"]


def test_a_closed_sample_shows_question_answer_and_reference() -> None:
    """A sample has a line; an unparsed answer shows the end; tags that differ have a filter."""
    scored = ScoredSample(
        *("gsm8k", "correct", 1.0, "q1", 1, {"level": "hard", "kind": "sums"}, "18", ""),
        *(Excerpt("Answer\nbriefly.\nHow\nmany " + 200 * "x", 225),),
        *({"output": Excerpt("So it is\n#### 18", 16)}, Excerpt("18", 2), {}),
    )
    unparsed = replace(
        scored,
        outcome="unparsed",
        extracted="",
        question=Excerpt("Answer\nbriefly.\nHow far?", 25),
        answer={"output": Excerpt(f"{80 * 'a'}\nI cannot say", 93)},
        tags={"level": "easy", "kind": "sums"},
    )
    judged = replace(scored, extracted="correct", judged={"judge": Excerpt("Right.", 6)})
    shown = samples(ScoredSamples((scored, unparsed, judged), 3, "SELECT 1"))
    first, second, third = shown.samples
    assert (first.asked[:11], len(first.asked)) == ("How many xx", 110)
    assert first.row_texts == {"answer": "18", "reference": "18"}
    assert second.row_texts["answer"] == f"…{47 * 'a'} I cannot say"
    assert third.row_texts["answer"] == "So it is #### 18"
    assert shown.statuses == {"correct": 2, "unparsed": 1}
    assert shown.tags == {"level": {"easy": 1, "hard": 2}}
    html = write(Page("title", (), (), (shown,)))
    assert '<option value="unparsed">unparsed (1)</option>' in html
    assert '<option value="easy">easy (1)</option>' in html


def test_a_long_text_is_there_in_full() -> None:
    """The rest of a long text opens; where a section is full, the page names the command."""
    prompt = "begin " + 5000 * "word " + "END"
    scored = ScoredSample(
        *("mrcr", "correct", 1.0, "q1", 1, {}, "18", "", excerpt(prompt, 1500)),
        *({"output": Excerpt("18", 2)}, Excerpt("18", 2), {}),
    )
    html = write(Page("title", (), (), (samples(ScoredSamples((scored,), 1, "SELECT 1")),)))
    elements = Elements(html)
    assert "23,509 more characters" in elements.text
    assert prompt[:1500] in html
    assert prompt[1500:] in html
    assert "are in the log" not in elements.text
    many = write(Page("title", (), (), (samples(ScoredSamples((scored,) * 120, 120, "SELECT 1")),)))
    assert len(many) - len(html) < 1.4 * SAMPLE_BYTES
    assert many.count(prompt[1500:]) == SAMPLE_BYTES // 3 // len(prompt[1500:])
    assert "23,509 more characters are in the log: loadgen export RUN --samples FILE." in Elements(many).text
