"""The effective number of requests: how far neighbors resemble each other decides how many count."""

from random import Random

import pytest

from rulesets.statistics.effective_size import FEWEST, of_share


def met(seed: int, n: int, run: int) -> list[tuple[float, float]]:
    """A tenth of the requests count, in stretches of that length on average."""
    random = Random(seed)  # noqa: S311 (a simulation, not a secret)
    cells, counts = [], False
    for _ in range(n):
        if random.random() < 1 / run:
            counts = random.random() < 0.1
        cells.append((1.0, float(counts)))
    return cells


def test_independent_requests_count_for_most_of_themselves() -> None:
    """And never for more."""
    sizes = [of_share(met(seed, 500, 1), 0.95) or 0 for seed in range(20)]
    assert max(sizes) <= 500
    assert sorted(sizes)[10] > 300


@pytest.mark.parametrize("run", [5, 20])
def test_stretches_count_for_about_their_number(run: int) -> None:
    """2 n / length, less the doubt about it."""
    sizes = sorted(of_share(met(seed, 2000, run), 0.95) or 0 for seed in range(20))
    assert 0.3 * 2000 / run < sizes[10] < 2 * 2000 / run


def test_spans_of_time_count_as_their_requests() -> None:
    """Of many requests, hundreds of spans tell as much as each request by itself."""
    cells = met(1, 8000, 20)
    spans = [
        (float(len(part)), sum(count for _, count in part))
        for part in (cells[first : first + 10] for first in range(0, 8000, 10))
    ]
    assert of_share(spans, 0.95) == pytest.approx(of_share(cells, 0.95), rel=0.5)


def test_the_least_and_the_most() -> None:
    """A share that changes once counts for few, one that never does for all; seven requests tell nothing."""
    assert FEWEST <= (of_share([(1, 0.0)] * 50 + [(1, 1.0)] * 50, 0.95) or 0) < 12
    assert of_share([(1, 1.0)] * 50, 0.95) == 50
    assert of_share([(1, 1.0)] * 7, 0.95) is None
    assert (of_share([(1, float(n % 2)) for n in range(50)], 0) or 0) >= 48
