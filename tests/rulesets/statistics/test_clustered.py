"""Standard errors of scores, by each formula."""

import math
from itertools import chain
from statistics import fmean
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.statistics.clustered import Variant, plain, standard_error

CLUSTERS = [[1, 1, 1, 0], [0, 0, 0], [1, 1], [1, 0, 1]]
SCORES = list(chain.from_iterable(CLUSTERS))

clustered = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=2, max_size=6)


def test_each_formula() -> None:
    """The mean is 7/12; blind to the clusters the error is a sixth too small."""
    assert fmean(SCORES) == pytest.approx(0.5833333)
    assert plain(SCORES) == pytest.approx(0.1486471, abs=5e-8)
    assert math.sqrt(7 / 12 * 5 / 12 / 12) == pytest.approx(0.1423188, abs=5e-8)
    assert standard_error(CLUSTERS) == pytest.approx(0.1720766, abs=5e-8)
    assert standard_error(CLUSTERS, "miller") == pytest.approx(0.1773462, abs=5e-8)
    assert standard_error(CLUSTERS, "corrected") == pytest.approx(0.1986969, abs=5e-8)


@given(clusters=clustered)
def test_millers_formula_as_it_is_written(clusters: list[list[float]]) -> None:
    """The plain error, and the products of all pairs within a cluster."""
    scores = list(chain.from_iterable(clusters))
    mean, error = fmean(scores), plain(scores)
    assert error is not None
    pairs = math.fsum(
        (item - mean) * (other - mean)
        for cluster in clusters
        for i, item in enumerate(cluster)
        for j, other in enumerate(cluster)
        if i != j
    )
    expected = math.sqrt(max(0.0, error**2 + pairs / len(scores) ** 2))
    assert standard_error(clusters, "miller") == pytest.approx(expected, abs=1e-7)


@given(scores=st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_clusters_of_one_change_nothing(scores: list[float]) -> None:
    """Miller's formula and the corrected one are then the plain one; empty clusters are not."""
    alone: list[list[float]] = [[], *([score] for score in scores)]
    assert standard_error(alone, "miller") == pytest.approx(plain(scores), abs=1e-12)
    assert standard_error(alone, "corrected") == pytest.approx(plain(scores), abs=1e-12)


def test_too_few_say_nothing() -> None:
    """One cluster, one score."""
    assert standard_error([[1, 0, 1], []]) is None
    assert plain([1]) is None


@given(clusters=clustered, exponent=st.integers(-900, 1022))
def test_the_error_has_the_unit_of_the_scores(clusters: list[list[float]], exponent: int) -> None:
    """Scores of a user's function may be so large that their squares, and even their sum, are infinite."""
    clusters = [[round(score, 3) for score in cluster] for cluster in clusters]
    scaled = [[math.ldexp(score, exponent) for score in cluster] for cluster in clusters]
    for variant in get_args(Variant):
        error = standard_error(clusters, variant)
        assert error is not None
        assert standard_error(scaled, variant) == pytest.approx(math.ldexp(error, exponent), rel=1e-9)
    error = plain(list(chain.from_iterable(clusters)))
    assert error is not None
    assert plain(list(chain.from_iterable(scaled))) == pytest.approx(math.ldexp(error, exponent), rel=1e-9)
