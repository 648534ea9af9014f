"""The colors of the style sheet: everyone can tell series apart."""

from __future__ import annotations

import math
import operator
import re
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from reporter.render.html.page_writer import asset

if TYPE_CHECKING:
    from collections.abc import Sequence


_CONES = {
    "red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""The colors that people without a kind of cones see, in linear RGB (Machado, Oliveira, Fernandes 2009)."""

_OKLAB = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_OKLAB_OF_CUBE_ROOTS = (
    (0.2104542553, 0.793617785, -0.0040720468),
    (1.9779984951, -2.428592205, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.808675766),
)


def _seen(color: str, cones: str) -> tuple[float, ...]:
    """A color of the style sheet in OKLab, as seen without a kind of cones."""

    def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
        return [sum(map(operator.mul, row, vector)) for row in matrix]

    shares = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    seen = [min(max(share, 0.0), 1.0) for share in times(_CONES[cones], linear)]
    return tuple(times(_OKLAB_OF_CUBE_ROOTS, [math.cbrt(part) for part in times(_OKLAB, seen)]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colors_of_series_differ_for_everyone(scheme: str) -> None:
    """Colors differ without red, green or blue cones too; people see differences from 0.02 in OKLab."""
    colors = [
        dict(zip(("light", "dark"), pair, strict=True))[scheme]
        for pair in re.findall(r"--c\d: light-dark\((#\w{6}), (#\w{6})\)", asset("page.css"))
    ]
    assert len(colors) == 6
    for cones in _CONES:
        for color, other in combinations(colors, 2):
            assert math.dist(_seen(color, cones), _seen(other, cones)) > 0.08, (cones, color, other)
