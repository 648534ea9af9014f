"""Two models on the same questions."""

import pytest

from rulesets.statistics.paired import difference, mcnemar

A = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1]
B = [1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1]


def test_pairing_halves_no_difference_but_its_error() -> None:
    """The scores agree by more than half."""
    result = difference(A, B)
    assert result is not None
    assert (result.mean, result.standard_error, result.z) == pytest.approx((0.1, 0.1, 1))
    assert result.unpaired == pytest.approx(0.1477907, abs=5e-8)
    assert result.correlation == pytest.approx(0.5447048, abs=5e-8)


def test_what_never_differs() -> None:
    """It has no z, and scores that are all alike no correlation; one question says nothing."""
    result = difference([1, 1], [0, 0])
    assert result is not None
    assert (result.z, result.correlation) == (None, None)
    assert difference([1], [0]) is None
    with pytest.raises(ValueError, match="shorter"):
        difference([1, 0], [1])


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e308])
def test_the_difference_has_the_unit_of_the_scores(scale: float) -> None:
    """Scores of a user's function may have infinite squares."""
    result = difference([score * scale for score in A], [score * scale for score in B])
    assert result is not None
    assert (result.mean, result.standard_error, result.z) == pytest.approx((0.1 * scale, 0.1 * scale, 1))
    assert result.correlation == pytest.approx(0.5447048, abs=5e-8)


@pytest.mark.parametrize(("first", "second", "p"), [(3, 1, 0.625), (15, 5, 0.0413895), (0, 0, 1), (4, 4, 1)])
def test_mcnemar(first: int, second: int, p: float) -> None:
    """Exactly, and the same whichever model is first."""
    assert mcnemar(first, second) == pytest.approx(p, abs=5e-8)
    assert mcnemar(second, first) == mcnemar(first, second)
