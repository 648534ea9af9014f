"""Early stopping decides as LoadGen does: at every edge of its table, and in either form."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.binomial import at_most
from rulesets.statistics.early_stopping import estimate_rank, h_min, most_over, n_min, samples_needed
from rulesets.statistics.order_statistics import upper_rank
from tests.for_each import for_each

H_MIN = """
    t      0.5     0.75      0.8      0.9     0.95     0.97     0.99    0.999
    0        7       17       21       44       90      152      459     4603
    1       10       23       30       63      129      218      661     6635
    2       12       29       37       79      163      275      836     8401
    3       14       34       44       94      195      329      998    10039
    4       15       39       51      109      225      379     1153    11597
    5       17       44       57      122      254      428     1302    13100
   10       25       66       86      187      388      657     2000    20130
   20       39      106      139      305      636     1077     3284    33077
   50       78      217      286      631     1322     2243     6848    69008
  100      137      390      516     1146     2404     4082    12471   125726
  200      251      723      959     2137     4491     7631    23327   235227
  300      361     1049     1392     3107     6535    11106    33962   342504
  500      578     1690     2244     5018    10564    17958    54927   554010
 1000     1108     3264     4341     9722    20483    34831   106569  1075032
 2000     2151     6370     8477    19011    40077    68165   208600  2104479
"""
"""h_min by t and percentile, at a confidence of 0.99."""

MOST_OVER = """
     n      0.5      0.9     0.95     0.97     0.99    0.999
    10        0        -        -        -        -        -
    64       22        1        -        -        -        -
   100       37        3        0        -        -        -
   130       51        5        1        -        -        -
   219       91       11        3        1        -        -
   500      223       34       13        6        0        -
   662      300       48       20        9        1        -
  1000      462       78       34       17        2        -
  1024      474       80       35       18        3        -
  5000     2417      450      214      122       33        0
  6636     3222      606      290      166       47        1
 10000     4883      930      449      260       77        2
 24576    12105     2348     1149      675      209       13
100000    49631     9779     4839     2874      927       77
270336   134562    26670    13253     7903     2583      232
"""
"""t* by n and percentile; - is below n_min(0)."""

FLOORS = {
    "0.5": 11,
    "0.75": 24,
    "0.8": 31,
    "0.9": 64,
    "0.95": 130,
    "0.97": 219,
    "0.99": 662,
    "0.999": 6636,
    "0.9999": 66381,
}
"""n_min(1), the smallest n with an estimate: so LoadGen, and the endpoints' documentation of it."""


def cells(table: str) -> list[tuple[int, Fraction, int | None]]:
    """Row, percentile and value of each."""
    head, *rows = (line.split() for line in table.strip().splitlines())
    return [
        (int(row[0]), Fraction(p), None if value == "-" else int(value))
        for row in rows
        for p, value in zip(head[1:], row[1:], strict=True)
    ]


shares = st.fractions(Fraction(1, 2), Fraction(999, 1000), max_denominator=1000)
over = st.integers(0, 300)


@for_each(("t", "p", "expected"), cells(H_MIN))
def test_every_edge_of_the_table(t: int, p: Fraction, expected: int) -> None:
    """That many are enough, one fewer is not, whether p is a fraction or the float that reads like it."""
    assert h_min(t, p) == h_min(t, float(p)) == expected
    assert n_min(t, p) == expected + t
    assert most_over(expected + t, p) == t
    assert most_over(expected + t - 1, p) == (t - 1 if t else None)


@for_each(("n", "p", "expected"), cells(MOST_OVER))
def test_how_many_may_be_over(n: int, p: Fraction, expected: int | None) -> None:
    """And the estimate is the t*-th largest, if there is one."""
    assert most_over(n, p) == expected
    assert estimate_rank(n, p) == (n - expected if expected else None)


@for_each(("p", "expected"), FLOORS.items())
def test_the_fewest_samples_for_an_estimate(p: str, expected: int) -> None:
    """From n_min(1) on it is the largest sample."""
    assert n_min(1, Fraction(p)) == expected
    assert estimate_rank(expected, Fraction(p)) == expected - 1
    assert estimate_rank(expected - 1, Fraction(p)) is None


def test_the_two_forms_differ() -> None:
    """At n = 662 the test of a p99 lets one be over, the estimate none; below, there is only the test."""
    assert most_over(662, 0.99) == 1
    latencies = [1.0] * 661 + [9.0]
    assert sum(latency > 5 for latency in latencies) <= (most_over(662, 0.99) or 0)
    rank = estimate_rank(662, 0.99)
    assert rank == 661
    assert latencies[rank] > 5
    assert (most_over(459, 0.99), estimate_rank(459, 0.99)) == (0, None)
    assert most_over(458, 0.99) is None


@pytest.mark.parametrize(
    ("n", "p", "estimated", "usual"), [(662, 0.99, 662, 661), (10_000, 0.99, 9924, 9923)]
)
def test_the_estimate_is_one_rank_above_the_usual_limit(n: int, p: float, estimated: int, usual: int) -> None:
    """Ranks counted from 1; the test agrees with the usual limit."""
    assert estimate_rank(n, p) == estimated - 1
    assert upper_rank(n, p, 0.99) == usual - 1


def test_what_the_ranks_cover() -> None:
    """The estimate at n = 662 covers more than it must, the usual limit hardly so."""
    assert at_most(661, 662, 0.99) == pytest.approx(0.99871, abs=5e-6)
    assert at_most(660, 662, 0.99) == pytest.approx(0.99009, abs=5e-6)


@given(t=over, p=shares)
def test_more_over_take_more_samples(t: int, p: Fraction) -> None:
    """By more than one each: those that are over are samples too."""
    assert n_min(t + 1, p) > n_min(t, p) + 1


@given(t=over, p=shares, higher=shares)
def test_a_higher_percentile_takes_more_samples(t: int, p: Fraction, higher: Fraction) -> None:
    """Or as many, of percentiles that are close."""
    low, high = sorted((p, higher))
    assert n_min(t, low) <= n_min(t, high)


@given(t=over, p=shares)
def test_more_confidence_takes_more_samples(t: int, p: Fraction) -> None:
    """And a tolerance takes fewer."""
    assert h_min(t, p, confidence=0.9) <= h_min(t, p) <= h_min(t, p, confidence=0.999)
    assert h_min(t, p, tolerance=0.001) <= h_min(t, p)


@given(n=st.integers(1, 20_000), p=shares)
def test_both_directions_agree(n: int, p: Fraction) -> None:
    """How many samples are enough for t* and not for one more; more samples never allow fewer."""
    allowed = most_over(n, p)
    assert n < n_min(0 if allowed is None else allowed + 1, p)
    if allowed is not None:
        assert n >= n_min(allowed, p)
        assert (most_over(n + 1, p) or 0) >= allowed


@given(t=over, p=shares)
def test_it_is_the_definition(t: int, p: Fraction) -> None:
    """I_{p}(h, t + 1) is below 1 - c from h_min on: by scipy."""
    from scipy.special import betainc

    h = h_min(t, p)
    assert betainc(h, t + 1, float(p)) < 0.01
    assert h == 1 or betainc(h - 1, t + 1, float(p)) >= 0.01


@pytest.mark.parametrize(
    ("seen", "n", "test", "estimate"),
    [
        (0, 0, 459, 662),
        (0, 100, 459, 662),
        (1, 662, 662, 1001),
        (9, 1000, 53743, 55742),
        (10, 1000, None, None),
    ],
)
def test_how_many_samples_would_do(seen: int, n: int, test: int | None, estimate: int | None) -> None:
    """Of the same share over; none where it is the percentile's or more."""
    assert samples_needed(seen, n, 0.99) == test
    assert samples_needed(seen, n, 0.99, "estimate") == estimate


@given(seen=st.integers(0, 40), n=st.integers(100, 5000), p=shares)
def test_the_number_of_samples_that_pass(seen: int, n: int, p: Fraction) -> None:
    """With the share of them over, rounded up, and never fewer than there are."""
    for form, spare in (("test", 0), ("estimate", 1)):
        needed = samples_needed(seen, n, p, form)
        if needed is not None:
            assert needed >= n
            assert -(-seen * needed // n) + spare <= (most_over(needed, p) or 0)
        else:
            assert Fraction(seen, n) > (1 - p) * Fraction(9, 10)


@pytest.mark.parametrize(("p", "confidence", "tolerance"), [(1, 0.99, 0), (0.99, 1, 0), (0.99, 0.99, 0.99)])
def test_a_share_must_leave_room(p: float, confidence: float, tolerance: float) -> None:
    """Nothing proves what admits no doubt."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        h_min(0, p, confidence, tolerance)
