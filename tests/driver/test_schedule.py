"""Schedules: monotone, true to their rate and their distribution, and the same for the same seed."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain, islice, pairwise, takewhile
from statistics import fmean, pvariance
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.arrivals import schedule
from loadgen.driver.arrivals.rate_profile import Profile
from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.load import ProcessArrivals
from loadgen.driver.phase import Shard
from workloads.arrivals import ARRIVAL_PROCESSES, constant
from workloads.errors import ArrivalError

SECOND = 1_000_000_000
SEEDS = st.integers(0, 2**63 - 1)
RATES = st.floats(min_value=0.01, max_value=100_000)

STAGES = Stages(
    (
        Stage(1, 20, profile("40")),
        Stage(21, 30, profile("ramp:40..200,20s")),
        Stage(60, 5, profile("0")),
        Stage(65, 1000, profile("sine:50,50,7s")),
    )
)
PROFILES: dict[str, Profile] = {
    text: profile(text)
    for text in (
        "100",
        "ramp:0..300,30s",
        "ramp:300..10,20s",
        "ramp-exp:5..500,20s",
        "ramp-exp:500..5,20s",
        "steps:0..400x5,25s",
        "sine:100,100,10s",
        "bursts:20,900,5s,500ms",
        "bursts:50,0,5s,2s",
    )
} | {"stages": STAGES}


SHAPES: dict[str, tuple[str, float | None]] = {
    f"{name} {burstiness:g}" if burstiness else name: (name, burstiness)
    for name, process in ARRIVAL_PROCESSES.items()
    for burstiness in ((0.25, 4.0) if process.takes_burstiness else (None,))
}
"""Every arrival process, and the one with a burstiness with two of them."""


def stats() -> Any:
    """`scipy.stats`, whose import takes over a second: only where it is used."""
    import scipy.stats

    return scipy.stats


LAWS: dict[str, Callable[[list[float]], list[float]]] = {
    "poisson": lambda values: stats().expon.cdf(values, scale=1),
    "gamma 0.25": lambda values: stats().gamma.cdf(values, 0.25, scale=4),
    "gamma 4": lambda values: stats().gamma.cdf(values, 4, scale=0.25),
    "uniform": lambda values: stats().uniform.cdf(values, 0, 2),
}
"""The distribution functions of the distances that come with the program."""

COUNT = 1500


def arrivals(shape: str, rate: Profile) -> ProcessArrivals:
    """The arrivals of a process at a rate."""
    name, burstiness = SHAPES[shape]
    return ProcessArrivals(name, rate, burstiness)


@cache
def distances(shape: str, seed: int, count: int = COUNT) -> Sequence[float]:
    """The first distances of a process at unit rate."""
    positions = arrivals(shape, profile("1")).positions(seed)
    return tuple(b - a for a, b in pairwise(islice(positions, count + 1)))


def mapped_back(shape: str, rate: Profile) -> list[float]:
    """The first distances of a schedule, mapped back by Λ to those at unit rate."""
    offsets = islice(arrivals(shape, rate).offsets(seed=5), COUNT + 1)
    expected = [rate.cumulative(index / SECOND) for index in offsets]
    assert len(expected) == COUNT + 1
    # Times are whole nanoseconds: without rounding, equal distances would be spread around 1.
    return [round(b - a, 4) for a, b in pairwise(expected)]


@pytest.mark.parametrize("of", PROFILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_schedule_has_the_distances_of_its_process(shape: str, of: str) -> None:
    """Kolmogorov-Smirnov of every process at every rate, against another seed at unit rate."""
    unit = [round(distance, 4) for distance in distances(shape, seed=99)]
    assert stats().ks_2samp(mapped_back(shape, PROFILES[of]), unit).pvalue > 0.0005


@pytest.mark.parametrize("shape", LAWS)
def test_distances_have_their_distribution(shape: str) -> None:
    """Kolmogorov-Smirnov against the distribution function."""
    assert stats().kstest(distances(shape, seed=5), LAWS[shape]).pvalue > 0.0005


def test_the_statistic_tells_distributions_apart() -> None:
    """The tests above would notice another process in the place of the one that was asked for."""
    for name, law in LAWS.items():
        for shape in LAWS:
            pvalue = stats().kstest(distances(shape, seed=8), law).pvalue
            assert (pvalue > 0.0005) == (shape == name), (shape, name)


@pytest.mark.parametrize("shape", SHAPES)
def test_distances_have_the_mean_and_the_variance_of_their_row(shape: str) -> None:
    """The mean is 1, within five standard errors; the variance is that of the row, within 15 %."""
    values = distances(shape, seed=3, count=40_000)
    variance = arrivals(shape, profile("1")).variance
    assert abs(fmean(values) - 1) <= 5 * math.sqrt(variance / len(values))
    assert pvariance(values) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("of", PROFILES)
@pytest.mark.parametrize("shape", SHAPES)
def test_as_many_come_as_are_expected(shape: str, of: str) -> None:
    """Until any second, the number of requests is Λ, give or take what chance allows."""
    rate = PROFILES[of]
    item, until = arrivals(shape, rate), 40 * SECOND
    offsets = list(takewhile(lambda moment: moment < until, item.offsets(seed=11)))
    for second in range(1, 41):
        expected = rate.cumulative(second)
        came = sum(index < second * SECOND for index in offsets)
        # Of a renewal process: the variance of a distance, for each; five deviations, and a request.
        assert abs(came - expected) <= 5 * math.sqrt(item.variance * expected) + 1 + item.variance, second


@given(st.sampled_from(sorted(PROFILES)), st.sampled_from(sorted(SHAPES)), SEEDS)
def test_schedules_never_go_back(of: str, shape: str, seed: int) -> None:
    """A request is never due before the one ahead of it, and never before the start."""
    some = list(islice(arrivals(shape, PROFILES[of]).offsets(seed), 200))
    assert some[0] >= 0
    assert all(a <= b for a, b in pairwise(some))


@given(st.sampled_from(sorted(PROFILES)), st.sampled_from(sorted(SHAPES)), SEEDS, st.integers(1, 7))
def test_any_number_of_workers_makes_the_same_schedule(of: str, shape: str, seed: int, workers: int) -> None:
    """The workers' shares together are what one worker would do, number by number; another seed is not."""
    result = arrivals(shape, PROFILES[of])
    whole = list(islice(enumerate(result.offsets(seed)), 70))
    shares = [
        list(islice(Shard(worker, workers).out_of(enumerate(result.offsets(seed))), 70))
        for worker in range(workers)
    ]
    assert sorted(chain(*shares))[:70] == whole
    if result.variance:
        assert list(islice(enumerate(result.offsets(seed + 1)), 70)) != whole


def test_an_unknown_process_is_an_error() -> None:
    """It is never taken for another one; the message has the nearest name, or all."""
    with pytest.raises(ArrivalError, match="unknown arrival process 'poison'; did you mean 'poisson'"):
        ProcessArrivals("poison", profile("1"))
    with pytest.raises(ArrivalError, match=f"'burst': there are {', '.join(ARRIVAL_PROCESSES)}"):
        ProcessArrivals("burst", profile("1"))


@given(rate=RATES, count=st.integers(min_value=1, max_value=2000))
def test_constant_is_exact_at_every_request(rate: float, count: int) -> None:
    """Request k is due at k / rate, to the nanosecond: rounding does not add up."""
    offsets = list(islice(schedule.at_rate(constant(0, 1.0), rate), count))
    assert all(abs(index - k * 1e9 / rate) <= max(1, index * 1e-15) for k, index in enumerate(offsets))


@pytest.mark.parametrize("of", PROFILES)
def test_nothing_drifts_in_ten_million_requests(of: str) -> None:
    """The times of far requests are as exact as those of near ones, to the resolution of a double."""
    rate = PROFILES[of]
    numbers = [k + j for k in (0, 10, 10**3, 10**5, 10**7 - 2) for j in range(3)]
    offsets = list(schedule.along(numbers, rate))
    assert all(a <= b for a, b in pairwise(offsets))
    for number, index in zip(numbers, offsets, strict=False):
        # Half a nanosecond of rounding at the peak, and the last digits of Λ.
        assert rate.cumulative(index / SECOND) == pytest.approx(number, rel=1e-14, abs=rate.peak * 2e-9)


def test_a_schedule_ends_where_the_rate_does() -> None:
    """After the last stage nothing comes any more: the sequence is over."""
    stages = Stages((Stage(0, 2, profile("5")), Stage(10, 1, profile("3"))))
    offsets = list(arrivals("constant", stages).offsets(0))
    assert offsets == [k * SECOND // 5 for k in range(10)] + [round(10e9 + k * 1e9 / 3) for k in range(3)]


def test_a_profile_of_one_rate_is_that_rate() -> None:
    """The quick way for a rate that does not change gives the schedule that the general one gives."""
    for shape in SHAPES:
        flat = arrivals(shape, profile("130"))
        general = schedule.along(flat.positions(3), profile("130"))
        assert all(abs(a - b) <= 1 for a, b in islice(zip(flat.offsets(3), general, strict=False), 2000))


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=50).map(sorted), st.floats(0.01, 100))
def test_a_trace_is_replayed_at_its_times(offsets: list[int], speed: float) -> None:
    """Distances are those of the trace by the speed; it starts with its first request, or a later one."""
    replayed = list(schedule.replayed(offsets, speed))
    assert all(
        abs(index - (was - offsets[0]) / speed) <= 1 for index, was in zip(replayed, offsets, strict=True)
    )
    rest = list(schedule.replayed(offsets, speed, first=len(offsets) // 2))
    assert rest[0] == 0
    assert len(rest) == len(offsets) - len(offsets) // 2
    assert list(schedule.replayed(offsets, speed, first=len(offsets))) == []


@pytest.mark.parametrize(("speed", "rate"), [(1.0, 3), (0.5, 2), (10.0, 5)])
def test_the_busiest_second_of_a_trace(speed: float, rate: float) -> None:
    """How many requests come in it, at the speed of the replay."""
    offsets = [0, 5, SECOND, SECOND + 1, 2 * SECOND - 1]
    assert schedule.busiest_rate(offsets, speed) == rate
    assert schedule.busiest_rate([], speed) == 0
