"""The regions of a curve, by the rows of Appendix B."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.sweeps import regions
from rulesets.sweeps.counting import REGIONS


@pytest.mark.parametrize(
    ("c_max", "c_min", "low", "medium", "margin"),
    [
        (64, 2, 6, 18, 71),
        (128, 2, 7, 27, 141),
        (256, 2, 8, 42, 282),
        (256, 8, 14, 47, 282),
        (512, 8, 16, 71, 564),
        (1024, 8, 18, 109, 1127),
        (512, 16, 24, 79, 564),
        (1024, 16, 26, 117, 1127),
        (2048, 16, 29, 176, 2253),
        (1024, 32, 42, 131, 1127),
        (2048, 32, 45, 192, 2253),
        (4096, 32, 48, 287, 4506),
        (8192, 32, 52, 437, 9012),
        (16384, 32, 57, 676, 18023),
        (256, 1, 7, 41, 282),
    ],
)
def test_each_row_of_the_appendix(c_max: int, c_min: int, low: int, medium: int, margin: int) -> None:
    """Low, Medium and the margin end where the published table has them end."""
    cut = regions(c_max, c_min)
    assert (cut.ultra_low, cut.low, cut.medium, cut.high, cut.margin) == (c_min, low, medium, c_max, margin)


@pytest.mark.parametrize(
    ("c_max", "margin"), [(50, 56), (90, 100), (100, 111), (110, 122), (170, 188), (60, 66)]
)
def test_the_margin_is_that_of_the_pseudocode(c_max: int, margin: int) -> None:
    """ceil(1.10 * C_max) in binary floating point: 1.10 * 50 is a little more than 55."""
    assert regions(c_max, 2).margin == margin


def test_a_declared_c_min_ends_ultra_low() -> None:
    """Without one Ultra Low is covered up to 32; the other regions are cut alike."""
    assert (regions(256, 8).covered, regions(256, 8, declared=True).covered) == (32, 8)
    assert regions(256, 8, declared=True).low == regions(256, 8).low
    with pytest.raises(ValueError, match="must be from 1 to 32"):
        regions(256, 33, declared=True)


@given(
    st.integers(33, 100_000).flatmap(lambda top: st.tuples(st.just(top), st.integers(1, min(top - 1, 64))))
)
def test_every_concurrency_has_one_place(sizes: tuple[int, int]) -> None:
    """The regions follow each other without gap or overlap, up to the margin, and nothing lies beyond."""
    c_max, c_min = sizes
    cut = regions(c_max, c_min)
    spans = [cut.span(region) for region in REGIONS]
    assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans[:-1])]
    for region, (_, last) in zip(REGIONS, spans, strict=True):
        assert last == 0 or cut.place(last) in REGIONS[: REGIONS.index(region) + 1]
    assert cut.place(c_max + 1) == "margin"
    assert cut.place(cut.margin + 1) is None


@pytest.mark.parametrize(("c_max", "c_min"), [(32, 2), (64, 64), (64, 0), (16, 32)])
def test_without_room_there_are_no_regions(c_max: int, c_min: int) -> None:
    """A C_max of at most 32, and one that is not above the lowest point, are refused."""
    with pytest.raises(ValueError, match="C_max"):
        regions(c_max, c_min)
