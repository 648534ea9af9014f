"""The page of two runs with common questions shows the two answers to a question next to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.compare_runs import answers_of_comparison, compare_runs
from loadgen.sessions.settings.compare import CompareSettings
from reporter.render.html.comparison_page import render
from tests.accessibility import violations_in_all_pairs
from tests.controls import BOTH, operate_all
from tests.reporter.accuracy.conftest import Benchmark

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.html.conftest import MadePage


def test_the_same_question_in_two_runs(
    a_run: Callable[..., Any], accuracy_page: MadePage, browser: Any, tmp_path: Path
) -> None:
    """The page counts lost and won answers by outcome, and shows both answers; axe finds nothing."""
    later = Benchmark(a_run()).asks(
        "gsm8k", 12, tags=lambda number: {"subject": ("algebra", "sums")[number % 2]}, groups=["subject"]
    )
    for number in range(12):
        later.answers(number, tokens=5)
    # The first run had 0, 3, 6 and 9 wrong.
    later.scored(1.0, "unparsed", 0.0, *(float(number % 3 != 0) for number in range(3, 12)))
    comparison = compare_runs(CompareSettings(runs=[accuracy_page.run, later.write()]))
    answers = answers_of_comparison(comparison)
    assert answers is not None
    assert answers.counts == {"lost": 2, "won": 1, "both wrong": 3, "both right": 6}
    assert [side.outcome for side in answers.answers[0].sides] in (
        ["correct", "unparsed"],
        ["correct", "incorrect"],
    )
    page = tmp_path / "page.html"
    page.write_text(render(comparison, answers=answers), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 390, "height": 844})
    tab.goto(page.as_uri())
    samples = tab.locator("#answers .sample:visible")
    tab.locator('#answers [data-by="status"]').select_option("lost")
    assert samples.count() == 2
    tab.locator('#answers [data-by="tag-2"]').select_option("unparsed")
    assert tab.locator("#answers output").inner_text() == "1 of 12 shown"
    assert samples.locator(".asked").inner_text().startswith("question 1")
    samples.locator("summary").first.click()
    sides = samples.locator(".sides > div")
    assert [sides.nth(place).locator("dt").last.inner_text() for place in range(2)] == ["Verdict"] * 2
    assert "unparsed" in sides.nth(1).inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    for by in BOTH:
        tab.reload()
        operate_all(tab, by, "#answers")
    assert violations_in_all_pairs(tab) == []
    tab.close()
