"""Durations as they are written on a command line, which reads them back as they were; numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.sessions.settings.kinds import seconds
from workloads.units import duration_text, number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(600, "10m"), (10, "10s"), (0.25, "250ms"), (90, "90s"), (7200, "2h"), (0, "0s"), (1e-7, "1e-07s")],
)
def test_durations(value: float, text: str) -> None:
    """In the longest unit that takes a whole number."""
    assert duration_text(value) == text


@given(st.integers(0, 10**9))
def test_a_duration_is_read_back(ms: int) -> None:
    """To the millisecond."""
    assert seconds(duration_text(ms / 1000)) == pytest.approx(ms / 1000)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10**12, "1,000,000,000,000"),
        (1e6, "1,000,000"),
        (1e-6, "0.000001"),
        (2.50, "2.5"),
        (-1, "-1"),
        (0.0, "0"),
        (float("nan"), "nan"),
    ],
)
def test_numbers(number: float, text: str) -> None:
    """Never with an exponent."""
    assert number_text(number) == text
