"""The page of a run in Chromium: complete, interactive, accessible, and quiet."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.compare_runs import compare_runs
from loadgen.sessions.formats import render
from loadgen.sessions.plotting import plots_of_comparison
from loadgen.sessions.settings.compare import CompareSettings
from reporter.plots.pareto import pareto_plot, planes
from reporter.plots.plot_value import Axis, Plot, PlotSeries
from reporter.render.html.page import Page, PlotGroup, Plots
from reporter.render.html.page_writer import write
from reporter.render.series_overview import SeriesOverview
from reporter.run_row import Figures
from tests.accessibility import violations_in_all_pairs
from tests.controls import BOTH, operate_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.reporter.html.conftest import MadePage

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
ONE_LINE = 45
CURVES = "charts.getInstanceByDom(document.querySelector('[data-plot=curves]'))"
DARK = "rgb(20, 23, 28)"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


class Opened:
    """A page in a browser, with what it complained of and asked for."""

    def __init__(self, tab: Any, made: MadePage) -> None:
        self.tab = tab
        self.made = made
        self.complaints: list[str] = []
        self.requests: list[str] = []
        tab.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.goto(made.path.as_uri())

    def drawn(self, name: str) -> list[Any]:
        """The points that a plot has drawn, by series."""
        return self.tab.evaluate(  # type: ignore[no-any-return]
            """name => charts.getInstanceByDom(document.querySelector(`[data-plot="${name}"]`))
                .getOption().series.map(series => [series.name, series.type, series.data])""",
            name,
        )

    def show(self, name: str) -> Any:
        """Choose a plot of its group, and scroll there."""
        button = self.tab.locator(f'[data-choose="{name}"]')
        if button.count():
            button.click()
        canvas = self.tab.locator(f'[data-plot="{name}"]')
        canvas.evaluate("canvas => canvas.closest('details.fold')?.setAttribute('open', '')")
        canvas.locator("svg").wait_for()
        canvas.scroll_into_view_if_needed()
        return canvas


Open = "Callable[..., Opened]"


def new_context(browser: Any, size: str, **options: Any) -> Any:
    """A window of this size."""
    width, height = SIZES[size]
    return browser.new_context(viewport={"width": width, "height": height}, **options)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a page in its own tab."""
    contexts = []

    def opened(made: MadePage, size: str = "desktop", scheme: str = "light", **options: Any) -> Opened:
        contexts.append(new_context(browser, size, color_scheme=scheme, **options))
        return Opened(contexts[-1].new_page(), made)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def opened_page(browser: Any, hostile_page: MadePage) -> Iterator[Opened]:
    """The page in a tab for several tests, each of which leaves its plots as they were."""
    context = new_context(browser, "desktop")
    yield Opened(context.new_page(), hostile_page)
    context.close()


@pytest.mark.parametrize("size", SIZES)
def test_it_opens_quietly(hostile_page: MadePage, open_page: Any, size: str) -> None:
    """No complaint, no request but for itself, nothing of the hostile texts ran, nothing is too wide.

    In dark mode as well, where it prints in the colors of paper. The first screen has the result and the
    figures; that of a desktop also the plot over time.
    """
    page = open_page(hostile_page, size)
    width, height = SIZES[size]
    for selector in (".answer .mark", ".card .value"):
        box = page.tab.locator(selector).first.bounding_box()
        assert box["y"] + box["height"] <= height, selector
    if size == "desktop":
        box = page.tab.locator("#first .canvas").bounding_box()
        assert box["y"] + box["height"] <= height
    for scheme, color in (("light", "rgb(251, 251, 252)"), ("dark", DARK)):
        page.tab.emulate_media(color_scheme=scheme)
        assert page.tab.evaluate("window.pwned") is None
        assert page.tab.evaluate("document.documentElement.scrollWidth") == width
        assert page.tab.evaluate(BACKGROUND) == color
    page.tab.emulate_media(media="print")
    assert page.tab.evaluate(BACKGROUND) == "rgb(255, 255, 255)"
    if size == "desktop":
        assert page.tab.pdf(format="A4").startswith(b"%PDF")
    assert page.complaints == []
    assert page.requests == [hostile_page.path.as_uri()]


@pytest.mark.slow
def test_each_plot_has_the_points_of_the_log(hostile_page: MadePage, opened_page: Opened) -> None:
    """Every series, point by point."""
    assert hostile_page.contents.plots
    for plot in hostile_page.contents.plots:
        opened_page.show(plot.name)
        drawn = opened_page.drawn(plot.name)
        for series in plot.series:
            (_, _, points), *_ = [entry for entry in drawn if entry[0] == series.name]
            assert len(points) == len(series.x), (plot.name, series.name)
            if plot.x.scale not in {"percentile", "category"}:
                assert [point[0] for point in points] == pytest.approx(series.x, rel=1e-5)
            assert [point[1] for point in points] == [
                None if value is None else pytest.approx(value, rel=1e-5) for value in series.y
            ]
    assert opened_page.complaints == []


def assert_drawn(page: Opened, plots: Sequence[Plot]) -> None:
    """Each series of each plot is drawn, point by point."""
    assert plots
    for plot in plots:
        page.show(plot.name)
        drawn = page.drawn(plot.name)
        for series in plot.series:
            name = series.name if series.group is None else series.group
            shown = [points for label, kind, points in drawn if label == name and kind != "custom"] or [
                points for label, _, points in drawn if label == name
            ]
            values = [[point[1] for point in points] for points in shown]
            wanted = [None if value is None else pytest.approx(value, rel=1e-5) for value in series.y]
            assert wanted in values, (plot.name, series.name)
    assert page.complaints == []


@pytest.fixture(scope="module")
def pages_of_several_runs(
    hostile_page: MadePage, a_run: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, list[Plot]]:
    """The pages of a comparison and of a sweep, with their plots."""
    comparison = compare_runs(CompareSettings(runs=[hostile_page.run, slower(a_run)]))
    compared = [plot for plot in plots_of_comparison(comparison) if isinstance(plot, Plot)]
    folder = tmp_path_factory.mktemp("pages")
    pages: dict[Path, list[Plot]] = {folder / "comparison.html": compared, folder / "sweep.html": []}
    texts = (render("comparison", "html", comparison, plots=compared), render("series", "html", swept()))
    for path, html in zip(pages, texts, strict=True):
        path.write_text(html, encoding="utf-8")
    return pages


def assert_points_have_names(page: Opened) -> None:
    """At the point, inside of the plot, and none over another, though two points almost coincide."""
    canvas = page.show("curves").bounding_box()
    texts = page.tab.locator('[data-plot="curves"] text').filter(has_text=re.compile(r"^[12348]$"))
    names = [text for text in texts.all_text_contents() if text]
    assert {"1", "2", "3", "4", "8"} <= set(names)
    boxes = [texts.nth(index).bounding_box() for index in range(len(names))]
    for number, box in enumerate(boxes):
        assert canvas["x"] < box["x"] < box["x"] + box["width"] < canvas["x"] + canvas["width"]
        for other in boxes[:number]:
            assert (
                abs(box["x"] - other["x"]) >= min(box["width"], other["width"])
                or abs(box["y"] - other["y"]) >= 10
            )


def assert_axes_can_be_chosen(page: Opened) -> None:
    """Every switch of the curves: axes, scales, series, a tip with warnings, and a click to a report."""

    def series() -> dict[str, list[list[Any]]]:
        return {name: data for name, kind, data in page.drawn("curves") if kind in {"line", "scatter"}}

    def scales() -> list[str]:
        shown = page.tab.evaluate(f"() => {CURVES}.getOption()")
        return [shown["xAxis"][0]["type"], shown["yAxis"][0]["type"]]

    sweep = series()["sweep"]
    assert [point[:2] for point in sweep] == [[90, 50], [180, 55], [270, 55.5], [360, 70], [720, 300]]
    assert sweep[0][5:7] == [81, 99]
    assert [point[4] for point in series()["missed"]] == ["8"]
    assert {"SLO region", "Pareto front", "knee", "meets its targets"} <= series().keys() | {"SLO region"}
    assert page.tab.locator('[data-plot="curves"] text', has_text="ttft:p(50)<100ms").count() == 1
    page.tab.get_by_label("x axis", exact=True).select_option("concurrency")
    page.tab.get_by_label("y axis", exact=True).select_option("output_tps")
    assert [point[:2] for point in series()["sweep"]] == [[load, 90 * load] for load in (1, 2, 3, 4, 8)]
    assert series().keys() == {"sweep", "meets its targets", "missed"}
    assert scales() == ["value", "value"]
    for box in page.tab.get_by_label("logarithmic").all():
        box.check()
    assert scales() == ["log", "log"]
    page.tab.get_by_role("button", name="missed").click()
    assert "missed" not in series()
    page.tab.get_by_role("button", name="missed").click()
    if page.tab.viewport_size["width"] == SIZES["desktop"][0]:
        canvas = page.show("curves").bounding_box()
        x, y = page.tab.evaluate(f"() => {CURVES}.convertToPixel('grid', [8, 720])")
        page.tab.mouse.move(canvas["x"] + x, canvas["y"] + y)
        page.tab.locator(".tip").wait_for()
        assert "c8, missed, late_reads <b>" in page.tab.locator(".tip").text_content()
        page.tab.mouse.click(canvas["x"] + x, canvas["y"] + y)
        assert page.tab.evaluate("location.hash") == "#c8"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_pages_of_a_comparison_and_of_a_sweep(
    hostile_page: MadePage, pages_of_several_runs: dict[Path, list[Plot]], open_page: Any, size: str
) -> None:
    """Every point of every plot, quietly, and accessible."""
    for path, plots in pages_of_several_runs.items():
        page = open_page(replace(hostile_page, path=path), size, bypass_csp=True)
        if path.stem == "sweep":
            assert_points_have_names(page)
        else:
            assert_drawn(page, plots)
        assert page.requests == [path.as_uri()]
        assert page.tab.evaluate("window.pwned") is None
        assert page.tab.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
        if path.stem == "sweep":
            assert_axes_can_be_chosen(page)
        assert page.complaints == []
        if size == "desktop":
            for by in BOTH:
                page.tab.goto(path.as_uri())
                operate_all(page.tab, by, "#curves" if path.stem == "sweep" else ".plots")
            assert violations_in_all_pairs(page.tab) == []


def slower(a_run: Any) -> Path:
    """A run to compare with, whose answers take longer; of a dataset whose name is a long word."""
    run = a_run()
    run.settings["dataset"] = {"kind": "file", "sha256": 64 * "e"}
    for number in range(60):
        at_ms = 25 * number
        run.answers(*(at_ms + 40 + 6 * chunk for chunk in range(5)), at_ms=at_ms, usage=(10, 5))
    return run.stops(1600).ends(1700).write()  # type: ignore[no-any-return]


def swept() -> SeriesOverview:
    """A sweep of five runs, two with equal figures; all but the last met the targets."""
    none: dict[str, Any] = dict.fromkeys(Figures.__dataclass_fields__)
    runs = {
        load: Figures(
            **none
            | {"output_tps": 90.0 * load, "ttft_p50_ms": ttft, "tpot_p50_ms": 10.0 + load}
            | {"output_tps_margin": 9.0, "ttft_p50_margin_ms": 1.0, "user_tps": 1e3 / (10.0 + load)}
        )
        for load, ttft in ((1, 50.0), (2, 55.0), (3, 55.5), (4, 70.0), (8, 300.0))
    }
    facts = {"valid": True, "accepted": False, "scores": []}
    rows = [
        {"name": f"c{load}", "folder": f"c{load}", "axes": {"concurrency": load}, **facts, **asdict(of)}
        | {"warnings": ["late_reads <b>"] if load == 8 else []}
        for load, of in runs.items()
    ]
    named = [(f"c{load}", of) for load, of in runs.items()]
    return SeriesOverview(
        "sweep",
        "sweep",
        "FAIL",
        rows,
        ["pass", "pass", "pass", "pass", "missed"],
        plots=[pareto_plot(plane) for plane in planes(named)],
        links={"c8": "#c8"},
        targets=["ttft:p(50)<100ms"],
    )


def test_a_plot_says_what_is_at_the_pointer(opened_page: Opened) -> None:
    """With the label and the unit of its axes."""
    box = opened_page.show("ttft-cdf").bounding_box()
    opened_page.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = opened_page.tab.locator(".tip")
    tip.first.wait_for()
    assert "TTFT" in tip.first.text_content()
    assert "ms" in tip.first.text_content()
    assert opened_page.complaints == []


def test_a_drag_zooms_and_a_button_resets(opened_page: Opened) -> None:
    """The visible part of the axis is that of the drag."""
    canvas = opened_page.show("ttft-cdf")
    box = canvas.bounding_box()
    where = """() => {
        const {start, end} = charts.getInstanceByDom(document.querySelector('[data-plot="ttft-cdf"]'))
            .getOption().dataZoom[0];
        return end - start;
    }"""
    assert opened_page.tab.evaluate(where) == 100
    opened_page.tab.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 100)
    opened_page.tab.mouse.down()
    opened_page.tab.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 100)
    opened_page.tab.mouse.up()
    assert 10 < opened_page.tab.evaluate(where) < 50
    opened_page.tab.locator('[data-variant="ttft-cdf"] button.reset').click()
    assert opened_page.tab.evaluate(where) == 100


def test_a_cumulative_distribution_is_cut_at_its_p99(
    hostile_page: MadePage, open_page: Any, tmp_path: Path
) -> None:
    """A switch shows the slowest 1 % too, and leaves the slowest out again."""
    series = PlotSeries("TTFT", "step", (1.0, 2.0, 900.0), (50.0, 99.0, 100.0))
    plot = Plot("ttft-cdf", "TTFT", Axis("TTFT", "ms"), Axis("share", "%"), (series,), "SELECT 1")
    section = Plots("plots", "Plots", (PlotGroup("TTFT", (plot,)),), {})
    (tmp_path / "page.html").write_text(write(Page("title", (), (), (section,))), encoding="utf-8")
    page = open_page(replace(hostile_page, path=tmp_path / "page.html"))
    where = "charts.getInstanceByDom(document.querySelector('[data-plot]')).getOption().dataZoom[0].end"
    page.show("ttft-cdf")
    assert page.tab.evaluate(where) < 1
    switch = page.tab.get_by_role("button", name="Up to p99")
    switch.click()
    assert (page.tab.evaluate(where), switch.get_attribute("aria-pressed")) == (100, "false")
    switch.click()
    assert page.tab.evaluate(where) < 1
    assert switch.get_attribute("aria-pressed") == "true"
    assert page.complaints == []


def test_a_tag_filters_the_plots(hostile_page: MadePage, opened_page: Opened) -> None:
    """All of its values, or one of them; then all requests again."""
    opened_page.show("ttft-cdf")
    select = opened_page.tab.locator("[data-filter]").first
    part = hostile_page.contents.parts["class"]["ttft-cdf"]
    select.select_option(label="each class")
    assert {name for name, *_ in opened_page.drawn("ttft-cdf")} == {"chat", "<b>code</b>"}
    select.select_option(label="class = <b>code</b>")
    ((_, _, points),) = opened_page.drawn("ttft-cdf")
    (series,) = [series for series in part.series if series.group == "<b>code</b>"]
    assert [point[0] for point in points] == pytest.approx(series.x, rel=1e-5)
    select.select_option(label="all")
    assert [name for name, *_ in opened_page.drawn("ttft-cdf")] == ["TTFT"]
    assert opened_page.tab.evaluate("window.pwned") is None


def test_a_request_opens(hostile_page: MadePage, opened_page: Opened) -> None:
    """Its prompt, its output and its chunks; each request takes one line, and all of them are folded."""
    assert not opened_page.tab.locator("#slowest").is_visible()
    opened_page.tab.locator("summary", has=opened_page.tab.locator("#slowest-title")).click()
    row = opened_page.tab.locator("#slowest tbody").first
    assert row.bounding_box()["height"] < ONE_LINE
    assert not row.locator("pre.quote").first.is_visible()
    row.locator("summary").click()
    assert row.locator("pre.quote").first.is_visible()
    slow = hostile_page.contents.slowest[0]
    assert row.locator("path.chunk").get_attribute("d").count("M") == slow.chunks
    assert "window.pwned" in row.text_content()


def test_a_finding_takes_one_line_and_opens(opened_page: Opened) -> None:
    """With its remedy."""
    finding = opened_page.tab.locator("details.remark").first
    assert finding.bounding_box()["height"] < ONE_LINE
    assert not finding.locator("p.note").first.is_visible()
    finding.locator("summary").first.click()
    assert finding.locator("p.note").first.is_visible()


def test_latency_over_time_is_linear_and_can_be_logarithmic(opened_page: Opened) -> None:
    """By a switch, which a plot of less than a decade has none of; warm-up and drain stay marked."""
    kind = (
        """charts.getInstanceByDom(document.querySelector('#first [data-plot]')).getOption().yAxis[0].type"""
    )
    switch = opened_page.tab.locator("#first button.log")
    assert opened_page.tab.evaluate(kind) == "value"
    switch.click()
    assert (opened_page.tab.evaluate(kind), switch.get_attribute("aria-pressed")) == ("log", "true")
    switch.click()
    assert opened_page.tab.evaluate(kind) == "value"
    assert opened_page.tab.locator("button.log[hidden]").count() > 0
    assert opened_page.tab.locator("#first svg").get_by_text("window", exact=True).count() == 1


def test_the_command_is_copied(hostile_page: MadePage, open_page: Any) -> None:
    """As it is on the page; where the clipboard is refused, it is selected."""
    for permissions, message in (
        (["clipboard-read", "clipboard-write"], "copied"),
        ([], "selected: copy with Ctrl+C"),
    ):
        page = open_page(hostile_page, permissions=permissions)
        page.tab.locator("[data-copy]").click()
        page.tab.get_by_text(message).wait_for()
        assert (
            page.tab.locator("#command")
            .text_content()
            .startswith("loadgen perf --url 'http://127.0.0.1:1/<u>'")
        )
    copied = open_page(hostile_page, permissions=["clipboard-read"]).tab.evaluate(
        "navigator.clipboard.readText()"
    )
    assert copied == page.tab.locator("#command").text_content()


def test_no_cell_covers_another_on_a_phone(hostile_page: MadePage, open_page: Any) -> None:
    """In every table; a table that is wider than the screen scrolls in a box."""
    page = open_page(hostile_page, "phone")
    page.tab.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true; })")
    assert page.tab.evaluate("document.documentElement.scrollWidth") == SIZES["phone"][0]
    covered = """() => [...document.querySelectorAll('tr')].filter(row => {
        const range = document.createRange();
        const places = [...row.cells].filter(cell => cell.textContent && cell.checkVisibility()).map(cell => {
            range.selectNodeContents(cell);
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return { left, right: Math.min(right, cell.getBoundingClientRect().right), top, bottom };
        });
        return places.some(({ left, top }, index) =>
            index && left < places[index - 1].right && top < places[index - 1].bottom);
    }).map(row => row.textContent)"""
    assert page.tab.evaluate(covered) == []
    # The unit of a table is the heading of its first column.
    assert page.tab.locator("#latencies .stack th").first.inner_text() == "milliseconds"


def test_samples_can_be_browsed(accuracy_page: MadePage, open_page: Any) -> None:
    """By outcome, by a tag, and by text."""
    page = open_page(accuracy_page)
    shown = page.tab.locator("#samples .sample:visible")
    page.tab.locator('[data-by="status"]').select_option("incorrect")
    assert shown.count() == 4
    assert page.tab.locator("#samples output").text_content() == "4 of 12 shown"
    page.tab.locator('[data-by="tag-1"]').select_option("algebra")
    assert shown.count() == 2
    page.tab.locator('[data-by="tag-1"]').select_option("")
    page.tab.locator('[data-by="text"]').fill("question 3")
    assert shown.count() == 1
    for by in BOTH:
        page.tab.reload()
        operate_all(page.tab, by, "#samples")
    assert page.complaints == []


@pytest.mark.slow
def test_it_is_readable_without_scripts(hostile_page: MadePage, open_page: Any) -> None:
    """Every plot is a table, and nothing that needs a script shows."""
    page = open_page(hostile_page, java_script_enabled=False)
    tables = page.tab.locator("details.data")
    assert tables.count() == len(hostile_page.contents.plots)
    tables.first.locator("summary").click()
    assert tables.first.locator("td").first.is_visible()
    assert page.tab.locator(".canvas:visible, .controls:visible, .choice:visible").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("which", ["hostile_page", "accuracy_page"])
def test_it_is_accessible(request: pytest.FixtureRequest, open_page: Any, which: str) -> None:
    """axe-core finds no violation, also with everything open, at each width in each mode."""
    # axe is put into the page, which its policy forbids to everything else.
    made = request.getfixturevalue(which)
    page = open_page(made, bypass_csp=True)
    page.tab.evaluate("document.querySelectorAll('details').forEach(element => { element.open = true; })")
    assert violations_in_all_pairs(page.tab) == []
    assert page.complaints == []
    assert page.requests == [made.path.as_uri()]
