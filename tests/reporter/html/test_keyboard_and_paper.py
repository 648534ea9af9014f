"""Pages by keyboard alone, and on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.controls import BOTH, operate_all

if TYPE_CHECKING:
    from tests.reporter.html.conftest import MadePage

PAPER: Final = 718
"""The width of A4 between margins of 10 mm, in px."""

REACHABLE: Final = """() => {
    const all = [...document.querySelectorAll(
        'a[href], button:not(:disabled), select, input, summary, [tabindex="0"]')];
    window.reachable = all.filter(one => one.checkVisibility({ visibilityProperty: true }));
    window.reached = [];
    document.addEventListener('focusin', ({ target }) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(target);
        reached.push([reachable.indexOf(target), outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1]);
    });
    return reachable.length;
}"""

CUT: Final = """width => [...document.querySelectorAll('table, pre, svg, p')]
    .filter(one => one.checkVisibility() && one.getBoundingClientRect().right > width + 1)
    .map(one => one.outerHTML.slice(0, 200))"""


DRAWN: Final = """() => [...document.querySelectorAll('.canvas')]
    .every(one => !one.checkVisibility() || one.querySelector('svg'))"""


@pytest.mark.slow
def test_every_control_is_reached_and_used_by_keys(hostile_page: MadePage, browser: Any) -> None:
    """Tab visits each control once, in page order, with an outline; keys use each kind of control."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(hostile_page.path.as_uri())
    tab.wait_for_function(DRAWN)
    count = tab.evaluate(REACHABLE)
    for _ in range(count):
        tab.keyboard.press("Tab")
    assert tab.evaluate("reached") == [[place, True] for place in range(count)]

    remark = tab.locator(".remark > summary").first
    remark.focus()
    for key, is_open in (("Enter", True), ("Escape", False), ("Space", True)):
        tab.keyboard.press(key)
        assert remark.evaluate("one => one.parentElement.open") == is_open
    choice = tab.locator('[data-choose="ttft-cdf"]')
    choice.press("Enter")
    assert tab.locator('[data-variant="ttft-cdf"]').is_visible()
    name = tab.locator("#first .legend button").first
    name.press("Space")
    assert name.get_attribute("aria-pressed") == "false"
    assert name.evaluate("one => one === document.activeElement")
    tab.get_by_role("link", name="Slowest requests").press("Enter")
    first = tab.locator("#slowest .row summary").first
    first.press("Enter")
    opened = tab.locator("#slowest .more").first
    assert opened.is_visible()
    opened.evaluate("one => { one.tabIndex = -1; one.focus(); }")
    tab.keyboard.press("Escape")
    assert not opened.is_visible()
    assert first.evaluate("one => one === document.activeElement")
    first.press("Escape")
    assert not first.is_visible()
    for by in BOTH:
        tab.goto(hostile_page.path.as_uri())
        tab.wait_for_function(DRAWN)
        operate_all(tab, by)
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["hostile_page", "accuracy_page"])
def test_on_paper_nothing_is_closed_or_cut(request: pytest.FixtureRequest, browser: Any, which: str) -> None:
    """Sections open for the print and close again; tables fit; colors are of paper, also in dark mode."""
    tab = browser.new_page(viewport={"width": PAPER, "height": 1000}, color_scheme="dark")
    tab.goto(request.getfixturevalue(which).path.as_uri())
    tab.wait_for_function(DRAWN)
    folds = tab.locator("details.fold, details.rows")
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folds.count() > 2
    assert folds.evaluate_all("all => all.every(one => one.open)")
    assert tab.evaluate(CUT, PAPER) == []
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(26, 29, 35)"
    assert (
        tab.locator("button:visible, select:visible, input:visible").count()
        == tab.locator(".legend button:visible").count()
    )
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not folds.evaluate_all("all => all.some(one => one.open)")
    tab.close()
