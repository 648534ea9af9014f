"""Profiles of a rate: the integral, its inverse, and their text, for every shape."""

import math
import pickle
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loadgen.driver.arrivals.rate_profile import (
    Bursts,
    ExponentialRamp,
    Flat,
    Later,
    LinearRamp,
    Profile,
    Sine,
    Steps,
)
from loadgen.driver.arrivals.rate_text import profile, seconds
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.errors import ProfileError

RATES = st.floats(0.01, 10_000)
RATES_OR_NONE = st.one_of(st.just(0.0), RATES)
TIMES = st.floats(0.01, 10_000)


def _apart(first: float, second: float) -> tuple[float, float]:
    return min(first, second), max(first, second)


FLATS = st.builds(Flat, RATES)
RAMPS = st.one_of(
    st.builds(LinearRamp, RATES_OR_NONE, RATES_OR_NONE, TIMES),
    st.builds(ExponentialRamp, RATES, RATES, TIMES),
    st.builds(Steps, RATES_OR_NONE, RATES_OR_NONE, TIMES, st.integers(2, 20)),
)
SINES = st.builds(
    lambda rates, period: Sine(rates[1], rates[0], period), st.builds(_apart, RATES, RATES), TIMES
)
BURSTS = st.builds(
    lambda base, burst, times: Bursts(base, burst, times[1] * 1.01, times[0]),
    RATES_OR_NONE,
    RATES,
    st.builds(_apart, TIMES, TIMES),
)
ON_THEIR_OWN = st.one_of(FLATS, RAMPS, SINES, BURSTS)


@st.composite
def staged(draw: st.DrawFn) -> Stages:
    """Some stages, with silence between them or without."""
    stages: list[Stage] = []
    for _ in range(draw(st.integers(1, 5))):
        start_s = (stages[-1].end_s if stages else 0.0) + draw(st.one_of(st.just(0.0), TIMES))
        stages.append(Stage(start_s, draw(TIMES), draw(st.one_of(st.just(Flat(0.0)), ON_THEIR_OWN))))
    return Stages(tuple(stages))


PROFILES = st.one_of(ON_THEIR_OWN, staged())


@given(PROFILES, TIMES, st.floats(0, 1))
def test_the_inverse_gives_the_time_back(rates: Profile, at_s: float, part: float) -> None:
    """Λ(Λ⁻¹(s)) = s, to the precision of a double."""
    expected = rates.cumulative(at_s) * part
    time_s = rates.inverse(expected)
    assume(time_s < math.inf)
    assert rates.cumulative(time_s) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(PROFILES, st.lists(st.floats(0, 1), min_size=2, max_size=30), TIMES)
def test_both_never_go_back(rates: Profile, parts: list[float], most_s: float) -> None:
    """Neither Λ nor Λ⁻¹ decreases, to the last digits."""
    times = sorted(most_s * part for part in parts)
    expected = [rates.cumulative(at_s) for at_s in times]
    assert all(a <= b + 1e-9 * (1 + b) for a, b in pairwise(expected))
    whole = rates.cumulative(most_s)
    result = [rates.inverse(whole * part) for part in sorted(parts)]
    assert all(a <= b + 1e-9 * (1 + b) for a, b in pairwise(result))


@given(PROFILES, TIMES, st.integers(1, 1000))
def test_the_cumulative_rate_is_the_integral_of_the_rate(rates: Profile, most_s: float, number: int) -> None:
    """Between two moments no fewer and no more are expected than the lowest and the highest rate allow."""
    start_s, step_s = most_s * number / 1000, most_s / 1000
    between = rates.cumulative(start_s + step_s) - rates.cumulative(start_s)
    assert -1e-6 <= between <= rates.peak * step_s * (1 + 1e-6) + 1e-6
    assert 0 <= rates.rate(start_s) <= rates.peak * (1 + 1e-9)


@given(st.one_of(FLATS, RAMPS, SINES, BURSTS))
def test_a_text_is_read_as_the_same_profile(rates: Profile) -> None:
    """What the log keeps is enough to repeat the run, to the last digit; and workers get the same."""
    assert profile(rates.text) == rates
    assert pickle.loads(pickle.dumps(rates)) == rates  # noqa: S301 (from this test)


@given(PROFILES, TIMES, TIMES)
def test_later_is_the_same_from_then_on(rates: Profile, by_s: float, at_s: float) -> None:
    """A profile that was interrupted goes on where it was."""
    rest = Later(rates, by_s)
    assert rest.rate(at_s) == rates.rate(by_s + at_s)
    assert rest.cumulative(at_s) == pytest.approx(
        rates.cumulative(by_s + at_s) - rates.cumulative(by_s), rel=1e-9, abs=1e-6
    )
    assert rest.inverse(0.0) >= 0


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("20", {0: (20, 0), 7: (20, 140)}),
        ("ramp:0..60,60s", {0: (0, 0), 30: (30, 450), 60: (60, 1800), 70: (60, 2400)}),
        ("ramp:60..0,1m", {30: (30, 1350), 60: (0, 1800), 90: (0, 1800)}),
        (f"ramp-exp:1..{math.e!r},1s", {0: (1, 0), 1: (math.e, math.e - 1), 2: (math.e, 2 * math.e - 1)}),
        ("ramp-exp:5..5,1s", {0.5: (5, 2.5), 2: (5, 10)}),
        ("steps:10..50x5,60s", {11: (10, 110), 12: (20, 120), 59: (50, 1750), 61: (50, 1850)}),
        (
            "sine:20,10,60s",
            {0: (20, 0), 15: (30, 300 + 300 / math.pi), 45: (10, 900 + 300 / math.pi), 120: (20, 2400)},
        ),
        ("bursts:5,100,10s,1s", {0: (5, 0), 9.5: (100, 95), 10: (5, 145), 19: (100, 190)}),
        ("bursts:0,100,1s,250ms", {0.5: (0, 0), 0.75: (100, 0), 1.8: (100, 30)}),
    ],
)
def test_known_points(text: str, points: dict[float, tuple[float, float]]) -> None:
    """The rate, and how many are expected until then, as the documentation says."""
    result = profile(text)
    for at_s, (rate, expected) in points.items():
        assert result.rate(at_s) == pytest.approx(rate)
        assert result.cumulative(at_s) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-1", "a rate of -1: must be from 0 to 1,000,000 req/s"),
        ("nan", "'nan' is not a number"),
        ("2e6", "a rate of 2000000: must be from 0"),
        ("1e-9", "a rate of 1e-09: must be 0, or at least 0.000001"),
        ("1e400", "a rate of inf: must be from 0"),
        ("", "'' is not a number"),
        ("rmap:1..50,60s", "unknown rate 'rmap'; did you mean 'ramp'?"),
        ("ramp:1..50", "'1..50' has no ','"),
        ("ramp:1-50,60s", "'1-50' has no '..'"),
        ("ramp:1..50,0s", "a time of 0 s: must be above 0 s"),
        ("ramp:1..50,60x", "'60x' is not a duration"),
        ("ramp-exp:0..50,60s", "can neither begin nor end at a rate of 0"),
        ("steps:10..50,60s", "'10..50' has no 'x'"),
        ("steps:10..50x1,60s", "1 steps: must be from 2 to 10000"),
        ("steps:10..50xmany,60s", "'many' is not a number of steps"),
        (f"steps:10..50x{'9' * 5000},60s", "is not a number of steps"),
        ("sine:10,20,60s", "has rates below 0"),
        ("sine:0,0,60s", "has rates below 0"),
        ("sine:20,10", "'20,10' is not a mean, an amplitude and a period"),
        ("bursts:5,100,1s,1s", "no time is left between"),
        ("bursts:0,0,10s,1s", "neither the bursts nor the time between them has a rate above 0"),
        ("bursts:5,100,10s", "is not a rate, the rate of a burst"),
    ],
)
def test_an_invalid_rate_is_refused(text: str, complaint: str) -> None:
    """The message says what is wrong with it, and what is possible."""
    with pytest.raises(ProfileError) as caught:
        profile(text)
    assert complaint in str(caught.value)
    assert "Possible are 20, ramp:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60", 60), ("90s", 90), ("5m", 300), ("1.5h", 5400), ("250ms", 0.25), (" 1e2 ", 100)],
)
def test_times(text: str, expected: float) -> None:
    """A time has a unit, or is in seconds."""
    assert seconds(text) == expected


def test_silence_is_skipped() -> None:
    """Where nothing is expected, the next request waits for the rate to come back."""
    result = Stages(
        (Stage(0, 5, Flat(0)), Stage(5, 10, Flat(2)), Stage(100, 1, Flat(3)), Stage(101, 9, Flat(0)))
    )
    assert [result.inverse(s) for s in (0, 19, 20, 21, 22)] == pytest.approx(
        [5, 14.5, 100, 100 + 1 / 3, 100 + 2 / 3]
    )
    assert result.inverse(23) == math.inf
    assert [result.rate(at_s) for at_s in (1, 6, 50, 100.5, 105, 1000)] == [0, 2, 0, 3, 0, 0]
    assert result.peak == 3
