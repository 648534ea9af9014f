"""Figures as a person reads them."""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from reporter import number_text as figures
from reporter.render import rule_in_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.verdict import VerdictRow


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (nan, "-"),
        (inf, "-"),
        (0.0, "0"),
        (0.00157, "0.00157"),
        (0.00169, "0.00169"),
        (0.0213, "0.0213"),
        (7.984, "7.98"),
        (51.83, "51.8"),
        (351.83, "352"),
        (12034.5, "12,034"),
    ],
)
def test_a_figure_has_three_digits(value: float | None, shown: str) -> None:
    """Three digits that mean something, so that different figures stay different; whole numbers in full."""
    assert figures.figure(value) == shown


@pytest.mark.parametrize(
    ("observed", "bound", "margin", "shown"),
    [(412.0, 800.0, 0.485, "+48 %"), (1305.0, 500.0, -1.61, "2.61x"), (7435.0, 1000.0, 6.435, "7.43x")],
)
def test_a_margin_beyond_the_bound_is_a_ratio(
    a_rule: Callable[..., VerdictRow], observed: float, bound: float, margin: float, shown: str
) -> None:
    """A figure 161 % beyond its bound is 2.61 times the bound."""
    assert rule_in_words.margin(a_rule(observed=observed, bound=bound, margin=margin)) == shown


@pytest.mark.parametrize(
    ("part", "of", "shown"),
    [
        (0, 100, "0 %"),
        (100, 100, "100 %"),
        (1, 3, "33 %"),
        (55, 7435, "0.74 %"),
        (999, 1000, "99.90 %"),
        (1, 1_000_000, "0.00010 %"),
        (1, 0, "-"),
    ],
)
def test_a_share_has_two_digits(part: int, of: int, shown: str) -> None:
    """Two digits of the share, or of what is missing from all."""
    assert figures.percent(part, of) == shown


@drawn(st.integers(1, 10_000_000), st.integers(1, 10_000_000))
def test_only_zero_reads_as_zero_and_only_all_as_all(part: int, rest: int) -> None:
    """One failure in ten million never reads as 0 %, nor one success as 100 % failed."""
    share = float(figures.percent(part, part + rest).removesuffix(" %"))
    assert 0 < share < 100


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "-"),
        (0.31, "310 ms"),
        (1.0, "1.0 s"),
        (60.0, "60.0 s"),
        (599.96, "10 min 00 s"),
        (3599.7, "1 h 00 min"),
        (90_061.0, "25 h 01 min"),
    ],
)
def test_a_span_is_shown_in_the_unit_that_suits_it(value: float | None, shown: str) -> None:
    """Milliseconds below a second, then seconds, minutes, hours; none of them ever reads 60."""
    assert figures.seconds(value) == shown


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("loop_lag_max_ms", 2.125, "loop lag max 2.12 ms"),
        ("cpu_share", 0.31, "cpu 31 %"),
        ("cpu_share", 1, "cpu 100 %"),
        ("events", 29996, "events 29,996"),
        ("load", 1.5, "load 1.50"),
        ("source", "kernel", "source kernel"),
        ("cpu_share_max", 0.995, "cpu max 99.50 %"),
        ("wait_ms", 3, "wait 3 ms"),
        ("lag_ms", None, "lag -"),
    ],
)
def test_a_reading_has_its_unit(name: str, value: object, shown: str) -> None:
    """The unit in a reading's name follows the figure."""
    assert figures.reading(name, value) == shown
