"""Files that follow from the tables of metrics, plots and payload keys are current."""

from __future__ import annotations

import difflib

import pytest

from tests.metric_files import MADE, ROOT


@pytest.mark.parametrize("path", MADE)
def test_what_is_made_of_the_table_is_current(path: str) -> None:
    """A metric or a key that a file lacks is named with the line that is missing."""
    text = (ROOT / path).read_text(encoding="utf-8")
    changed = [
        line
        for line in difflib.ndiff(text.splitlines(), MADE[path](text).splitlines())
        if line.startswith(("+ ", "- "))
    ]
    assert not changed, "\n".join((f"{path} is not what its table makes: make golden", *changed))
