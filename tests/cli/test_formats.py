"""Formats by name: of reports, verdicts and comparisons."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import FORMATS, Subject, formats_of, render
from loadgen.sessions.settings.format_options import chosen_format
from tests.conftest import ROOT


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_subject_and_a_file(name: str) -> None:
    """A row names modules that exist."""
    modules = [getattr(FORMATS[name], subject) for subject in get_args(Subject)]
    assert any(modules)
    files = [ROOT / f"{module.partition(':')[0].replace('.', '/')}.py" for module in modules if module]
    assert [file for file in files if not file.exists()] == []


def test_a_format_that_a_subject_lacks_is_an_error() -> None:
    """With the nearest name, and all of them."""
    with pytest.raises(
        UsageError, match=re.escape("--format junt: not a format of a verdict; did you mean 'junit'")
    ):
        render("verdict", "junt", [])
    with pytest.raises(UsageError, match="choose from text, json"):
        render("report", "junit", None)
    assert formats_of("comparison") == ["text", "json", "html", "md", "csv", "svg"]


def test_json_is_a_shorthand() -> None:
    """Of `--format json`; with another format it contradicts itself."""
    assert [chosen_format("text", json=True), chosen_format("json", json=True)] == ["json", "json"]
    assert chosen_format("markdown", json=False) == "markdown"
    with pytest.raises(UsageError, match="contradict each other"):
        chosen_format("markdown", json=True)
