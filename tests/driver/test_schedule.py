"""Schedules: monotone, true to their rate and their distribution, and the same for the same seed."""

import math
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.arrivals import schedule, spread
from loadgen.driver.arrivals.rate_profile import Profile
from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.plan import Load, LoadKind
from loadgen.driver.shard import Shard

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


def _exponential(gap: float) -> float:
    return 1 - math.exp(-gap)


def _gamma_of_a_quarter(gap: float) -> float:
    """The regularised lower incomplete gamma function P(1/4, gap / 4), by its series."""
    shape, at = 0.25, gap * 0.25
    term = total = 1 / shape
    for k in range(1, 500):
        term *= at / (shape + k)
        total += term
    return min(1.0, total * math.exp(-at + shape * math.log(at) - math.lgamma(shape))) if at else 0.0


def _gamma_of_four(gap: float) -> float:
    """The Erlang distribution of four stages and mean 1."""
    return 1 - math.exp(-4 * gap) * sum((4 * gap) ** k / math.factorial(k) for k in range(4))


def _uniform(gap: float) -> float:
    return min(gap / 2, 1.0)


SPREADS: dict[str, tuple[LoadKind, float | None, Callable[[float], float]]] = {
    "poisson": (LoadKind.POISSON, None, _exponential),
    "gamma 0.25": (LoadKind.GAMMA, 0.25, _gamma_of_a_quarter),
    "gamma 4": (LoadKind.GAMMA, 4.0, _gamma_of_four),
    "uniform": (LoadKind.UNIFORM, None, _uniform),
}
KINDS = {**{name: one[:2] for name, one in SPREADS.items()}, "constant": (LoadKind.CONSTANT, None)}


def load(kind: LoadKind, burstiness: float | None, of: Profile) -> Load:
    """A load of that spread at that rate."""
    return Load(kind, profile=of, burstiness=burstiness)


def distance(values: list[float], distribution: Callable[[float], float]) -> float:
    """The Kolmogorov-Smirnov statistic: how far the values are from a distribution at most."""
    expected = [distribution(value) for value in sorted(values)]
    count = len(expected)
    return max(max((k + 1) / count - at, at - k / count) for k, at in enumerate(expected))


@pytest.mark.parametrize("of", PROFILES)
@pytest.mark.parametrize("kind", SPREADS)
def test_distances_have_the_distribution_that_they_say(kind: str, of: str) -> None:
    """Kolmogorov-Smirnov on every spread and every rate: Λ maps the distances back to those of unit rate."""
    name, burstiness, distribution = SPREADS[kind]
    rate, count = PROFILES[of], 1500
    offsets = chain([0], islice(load(name, burstiness, rate).offsets(seed=5), count))
    gaps = [rate.cumulative(b / SECOND) - rate.cumulative(a / SECOND) for a, b in pairwise(offsets)]
    assert len(gaps) == count
    # The critical value for a level of 0.0005: 2.0 / √n.
    assert distance(gaps, distribution) < 2.0 / math.sqrt(count)


def test_the_statistic_tells_distributions_apart() -> None:
    """The test above would notice another spread in the place of the one that was asked for."""
    for name, burstiness, distribution in SPREADS.values():
        for other, (kind, shape, _) in SPREADS.items():
            gaps = [b - a for a, b in pairwise(islice(_positions(kind, shape), 1500))]
            same = (kind, shape) == (name, burstiness)
            assert (distance(gaps, distribution) < 2.0 / math.sqrt(1500)) is same, other


def _positions(kind: LoadKind, burstiness: float | None) -> Iterator[float]:
    """Positions of a spread at a rate of 1, in seconds."""
    offsets = Load(kind, rate=1.0, burstiness=burstiness).offsets(seed=8)
    return (at / SECOND for at in chain([0], offsets))


@pytest.mark.parametrize("of", PROFILES)
@pytest.mark.parametrize("kind", KINDS)
def test_as_many_come_as_are_expected(kind: str, of: str) -> None:
    """Until any second, the number of requests is Λ, give or take what chance allows."""
    rate = PROFILES[of]
    name, burstiness = KINDS[kind]
    until = 40 * SECOND
    offsets = list(takewhile(lambda at: at < until, load(name, burstiness, rate).offsets(seed=11)))
    for second in range(1, 41):
        expected = rate.cumulative(second)
        came = sum(at < second * SECOND for at in offsets)
        # Of a renewal process: the variance of a distance, for each; five deviations, and a request.
        variance = {"constant": 0.0, "uniform": 1 / 3, "gamma 0.25": 4.0, "gamma 4": 0.25}.get(kind, 1.0)
        assert abs(came - expected) <= 5 * math.sqrt(variance * expected) + 1 + variance, second


@given(st.sampled_from(sorted(PROFILES)), st.sampled_from(sorted(KINDS)), SEEDS)
def test_schedules_never_go_back(of: str, kind: str, seed: int) -> None:
    """A request is never due before the one ahead of it, and never before the start."""
    some = list(islice(load(*KINDS[kind], PROFILES[of]).offsets(seed), 200))
    assert some[0] >= 0
    assert all(a <= b for a, b in pairwise(some))


@given(st.sampled_from(sorted(PROFILES)), st.sampled_from(sorted(KINDS)), SEEDS, st.integers(1, 7))
def test_any_number_of_workers_makes_the_same_schedule(of: str, kind: str, seed: int, workers: int) -> None:
    """What the workers' shares come to is what one worker would do, number by number; another seed is not."""
    one = load(*KINDS[kind], PROFILES[of])
    whole = list(islice(enumerate(one.offsets(seed)), 70))
    shares = [
        list(islice(Shard(worker, workers).out_of(enumerate(one.offsets(seed))), 70))
        for worker in range(workers)
    ]
    assert sorted(chain(*shares))[:70] == whole
    if one.kind is not LoadKind.CONSTANT:
        assert list(islice(enumerate(one.offsets(seed + 1)), 70)) != whole


@given(rate=RATES, count=st.integers(min_value=1, max_value=2000))
def test_constant_is_exact_at_every_request(rate: float, count: int) -> None:
    """Request k is due at k / rate, to the nanosecond: rounding does not add up."""
    offsets = list(islice(schedule.at_rate(spread.constant(), rate), count))
    assert all(abs(at - k * 1e9 / rate) <= max(1, at * 1e-15) for k, at in enumerate(offsets))


@pytest.mark.parametrize("of", PROFILES)
def test_nothing_drifts_in_ten_million_requests(of: str) -> None:
    """The times of far requests are as exact as those of near ones, to the resolution of a double."""
    rate = PROFILES[of]
    numbers = [k + j for k in (0, 10, 10**3, 10**5, 10**7 - 2) for j in range(3)]
    offsets = list(schedule.along(numbers, rate))
    assert all(a <= b for a, b in pairwise(offsets))
    for number, at in zip(numbers, offsets, strict=False):
        # Half a nanosecond of rounding at the peak, and the last digits of Λ.
        assert rate.cumulative(at / SECOND) == pytest.approx(number, rel=1e-14, abs=rate.peak * 2e-9)


def test_a_schedule_ends_where_the_rate_does() -> None:
    """After the last stage nothing comes any more: the sequence is over."""
    stages = Stages((Stage(0, 2, profile("5")), Stage(10, 1, profile("3"))))
    offsets = list(Load(LoadKind.CONSTANT, profile=stages).offsets(0))
    assert offsets == [k * SECOND // 5 for k in range(10)] + [round(10e9 + k * 1e9 / 3) for k in range(3)]


def test_a_profile_of_one_rate_is_that_rate() -> None:
    """The quick way for a rate that does not change gives the schedule that the general one gives."""
    for kind, burstiness in KINDS.values():
        flat = Load(kind, rate=130.0, burstiness=burstiness).offsets(3)
        general = load(kind, burstiness, profile("130")).offsets(3)
        assert all(abs(a - b) <= 1 for a, b in islice(zip(flat, general, strict=False), 2000))


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=50).map(sorted), st.floats(0.01, 100))
def test_a_trace_is_replayed_at_its_times(offsets: list[int], speed: float) -> None:
    """Distances are those of the trace by the speed; it starts with its first request, or a later one."""
    replayed = list(schedule.replayed(offsets, speed))
    assert all(abs(at - (was - offsets[0]) / speed) <= 1 for at, was in zip(replayed, offsets, strict=True))
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


def test_everything_at_once_is_due_at_the_start() -> None:
    """MLPerf's offline scenario."""
    assert list(islice(Load(LoadKind.OFFLINE).offsets(0), 3)) == [0, 0, 0]
