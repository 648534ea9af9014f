"""Two answers side by side: verdicts, both orders, and the figures of a whole run."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.plugins.evals.grading.pairwise import (
    DISCRETE_WIN_RATE,
    FIRST_PLACE,
    ORDER_CONSISTENCY,
    WIN_RATE,
    WIN_RATE_ERROR,
    PairwiseComparison,
    PairwiseVerdict,
    mean_of,
    verdict_in,
)

A, B, C = PairwiseVerdict.FIRST, PairwiseVerdict.SECOND, PairwiseVerdict.TIE
VERDICTS = st.sampled_from(list(PairwiseVerdict))


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("… so the verdict is [[A]].", A),
        ("[[B]]", B),
        ("[[C]]\r\n", C),
        ("not [[B]], and not a tie [[C]]: [[A]]", A),
        ("[[C]] or [[B]]", B),
        ("[A]", None),
        ("[[a]]", None),
        ("[[ A ]]", None),
        ("[[D]]", None),
        ("", None),
    ],
)
def test_a_verdict_is_a_letter_in_two_brackets(message: str, verdict: PairwiseVerdict | None) -> None:
    """Of several, A goes before B and B before C, as in FastChat."""
    assert verdict_in(message) is verdict


@pytest.mark.parametrize(
    ("shown_first", "shown_second", "mean", "agreed", "either"),
    [
        (A, B, 1.0, 1.0, 1.0),  # a win in both orders
        (B, A, 0.0, 0.0, 0.0),  # a loss in both
        (C, C, 0.5, 0.5, 1.0),
        (A, A, 0.5, 0.5, 1.0),  # whatever stands first wins
        (B, B, 0.5, 0.5, 1.0),  # whatever stands second wins
        (A, C, 0.75, 0.5, 1.0),  # a win and a tie
        (C, A, 0.25, 0.5, 1.0),  # a tie and a loss
    ],
)
def test_both_orders_count(
    shown_first: PairwiseVerdict, shown_second: PairwiseVerdict, mean: float, agreed: float, either: float
) -> None:
    """The mean of both, FastChat's rule that a win is one in both, and the rule of either order."""
    result = PairwiseComparison(shown_first, shown_second)
    assert (result.mean, result.agreed, result.either) == (mean, agreed, either)


@given(VERDICTS, VERDICTS)
def test_who_changes_places_with_the_other_gets_the_rest(
    first: PairwiseVerdict, second: PairwiseVerdict
) -> None:
    """What both answers get is 1 together, and the orders agree about both or about none."""
    ours, theirs = PairwiseComparison(first, second), PairwiseComparison(second, first)
    assert ours.mean + theirs.mean == 1.0
    assert ours.agreed + theirs.agreed == 1.0
    assert ours.consistent == theirs.consistent


def test_figures_of_several_comparisons_are_means() -> None:
    """One consistent, one not; three of four verdicts for what stood first, a half for the tie."""
    figures = mean_of([PairwiseComparison(A, B), PairwiseComparison(A, C)])
    assert figures == {"consistent": 0.5, "first_place": 0.625}


def test_headlines_are_alpacaevals() -> None:
    """Win rate, standard error and discrete win rate of preferences, and what both orders show."""
    rows = [(1.0, 1.0, 0.5), (0.5, 0.0, 1.0), (0.75, 0.0, 0.75), (0.0, 1.0, 0.5)]
    headlines = [WIN_RATE, DISCRETE_WIN_RATE, WIN_RATE_ERROR, ORDER_CONSISTENCY, FIRST_PLACE]
    result = duckdb.connect().execute(
        f"SELECT {', '.join(headline.sql for headline in headlines)} FROM ("  # noqa: S608 (our own expressions)
        "SELECT r[1] AS value, MAP {'consistent': r[2], 'first_place': r[3]} AS metrics "
        "FROM (SELECT unnest(?::DOUBLE[][]) AS r))",
        [[list(row) for row in rows]],
    )
    assert result.fetchone() == pytest.approx((0.5625, 0.625, 0.21347814, 0.5, 0.6875))
