"""A rule for every case of a list is one test, which reports every violation."""

from __future__ import annotations

import inspect

import pytest

from tests.for_each import for_each


def test_every_violation_is_reported() -> None:
    """Each with its case; a case that holds is not named."""

    @for_each(("left", "right"), [(1, 1), (1, 2), (3, 3), (3, 4)])
    def rule(left: int, right: int) -> None:
        with pytest.raises(ZeroDivisionError):
            _ = 1 / (left - right)

    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases fail") as failed:
        rule()
    notes = [note for violation in failed.value.exceptions for note in violation.__notes__]
    assert notes == ["left = 1, right = 2", "left = 3, right = 4"]


def test_fixtures_are_passed_on() -> None:
    """Pytest sees the parameters that no case has."""
    calls = []

    @for_each("number", range(3))
    def rule(number: int, tmp_path: str) -> None:
        calls.append((number, tmp_path))

    assert list(inspect.signature(rule).parameters) == ["tmp_path"]
    rule(tmp_path="folder")
    assert calls == [(0, "folder"), (1, "folder"), (2, "folder")]


def test_a_rule_without_cases_is_an_error() -> None:
    """It would hold for nothing, unseen."""
    with pytest.raises(AssertionError, match="no cases"):
        for_each("name", [])
