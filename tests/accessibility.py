"""What axe-core says of a page: `serious_violations(tab)`."""

from __future__ import annotations

from typing import Any

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


_ONLY_VIOLATIONS = {"resultTypes": ["violations"]}


def serious_violations(tab: Any) -> list[tuple[str, str, str]]:
    """The serious and critical violations of a page: the rule, the first element, what fails.

    Rows of a table are removed from the page where two others have the same elements and classes: axe takes
    milliseconds for each element.
    """
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra `dev`").Axe()
    tab.evaluate(_WITHOUT_REPETITIONS)
    return [
        (violation["id"], violation["nodes"][0]["html"][:200], violation["nodes"][0]["failureSummary"])
        for violation in axe.run(tab, options=_ONLY_VIOLATIONS).response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]
