"""The interval of a mean over time, from the means of blocks."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.batch_means import FEWEST, autocorrelation, grouped, interval

RATES = [980, 1010, 1005, 995, 1020, 990, 1000, 1015, 985, 1000]

blocks = st.lists(st.floats(1, 1000), min_size=2, max_size=40)


def test_ten_rates() -> None:
    """Student's t with nine degrees of freedom is 2.262157."""
    result = interval(RATES, 0.95)
    assert result is not None
    assert (result.mean, result.half_width) == pytest.approx((1000, 9.235218))
    assert (result.low, result.high) == pytest.approx((990.764782, 1009.235218))
    assert result.autocorrelation == pytest.approx(-0.466667, abs=5e-7)


@pytest.mark.slow
@given(blocks=blocks, level=st.sampled_from([0.5, 0.9, 0.99]))
def test_it_is_scipys(blocks: list[float], level: float) -> None:
    """Of any blocks that are not all alike."""
    from scipy.stats import sem, t

    result, error = interval(blocks, level), float(sem(blocks))
    assert result is not None
    expected = float(t.ppf((1 + level) / 2, len(blocks) - 1)) * error
    assert result.half_width == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_one_block_says_nothing() -> None:
    """There is nothing that it differs from."""
    assert interval([5.0], 0.95) is None


def test_blocks_that_resemble_their_neighbours_become_longer() -> None:
    """Until they do not, or few are left; what does not is left alone."""
    random = Random(6)  # noqa: S311 (a simulation, no secret)
    level, slow = 0.0, []
    for _ in range(640):
        level = 0.8 * level + random.gauss()
        slow.append(level)
    result = grouped(slow)
    assert autocorrelation(slow) > 0.5
    assert autocorrelation(result) <= 0.2
    assert len(slow) / len(result) >= 4
    assert grouped(RATES) == tuple(RATES)
    assert len(grouped(range(100))) >= FEWEST
    assert autocorrelation([3, 3, 3]) == 0
