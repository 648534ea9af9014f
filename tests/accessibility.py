"""Violations that axe-core finds: `violations(tab)`; `violations_in_all_pairs(tab)` of sizes and modes."""

from __future__ import annotations

from typing import Any, Final

import pytest

_WITHOUT_REPETITIONS = """() => {
    const counts = new Map();
    for (const element of document.querySelectorAll('tbody, tr, .sample')) {
        const parts = [element, ...element.querySelectorAll('*')];
        const shape = parts.map(part => `${part.tagName} ${part.getAttribute('class')}`).join();
        if (!counts.has(element.parentNode)) counts.set(element.parentNode, new Map());
        const shapes = counts.get(element.parentNode);
        shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
        if (shapes.get(shape) > 2) element.remove();
    }
}"""

WIDTHS: Final = (1400, 390)
MODES: Final = ("light", "dark")


def violations(tab: Any, *rules: str) -> list[tuple[str, str, str]]:
    """The violations of rules, by default of all rules, in a page: the rule, the first element, the failure.

    Rows of a table are removed from the page where two others have the same elements and classes: axe takes
    milliseconds for each element.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra `dev`").Axe()
    tab.evaluate(_WITHOUT_REPETITIONS)
    # Twice as fast from its second run on a page, once it has been compiled.
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(axe.axe_script)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    seen = tab.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [
        (violation["id"], violation["nodes"][0]["html"][:200], violation["nodes"][0]["failureSummary"])
        for violation in seen
    ]


def violations_in_all_pairs(tab: Any) -> list[tuple[int, str, tuple[str, str, str]]]:
    """The violations at each width in each mode; of a mode, only contrasts depend on colors."""
    seen = []
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 844})
        for mode in MODES:
            tab.emulate_media(color_scheme=mode)
            rules = () if mode == MODES[0] else ("color-contrast",)
            seen += [(width, mode, violation) for violation in violations(tab, *rules)]
    return seen
