"""Lengths of prompts and answers with the mean of the given distribution.

A draw outside of 1 to `MOST_TOKENS` counts as the bound that it passed. Where that moves the mean of a
distribution by more than `MOST_OFF` of what it says, it cannot give its mean and is refused: `normal:5,100`,
half of whose draws would be 1, or `lognormal:100,5`, whose mean is made of a few draws that rarely occur.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.distribution_notation import Constant, length_shape
from workloads.errors import DistributionError

if TYPE_CHECKING:
    from random import Random

    from workloads.distributions import LengthDistribution

MOST_TOKENS: Final = 1_000_000
"""The longest, in tokens: longer contexts are not served."""

MOST_OFF: Final = 0.05


@dataclass(frozen=True, slots=True)
class Lengths:
    """A distribution of lengths."""

    spec: str
    shape: LengthDistribution
    limit: int

    @property
    def mean(self) -> float:
        """The mean of the draws before rounding."""
        return self.shape.mean_within(1, self.limit)

    def drawn(self, rng: Random) -> int:
        """Draw a length, from 1 to `limit`."""
        return min(max(1, round(self.shape(rng))), self.limit)


def lengths(option: str, spec: str, limit: int = MOST_TOKENS) -> Lengths:
    """Read a distribution of lengths up to `limit`; raise `WorkloadError` where the mean is unreachable."""
    try:
        shape = length_shape(spec)
    except DistributionError as error:
        raise DistributionError(f"{option} {error}") from error
    wanted_mean, bounded_mean = shape.mean, shape.mean_within(1, limit)
    if abs(bounded_mean / wanted_mean - 1) > MOST_OFF:  # also where the mean is infinite
        raise DistributionError(
            f"{option} {spec!r}: cannot give its mean, which is {wanted_mean:g}, but {bounded_mean:.4g} "
            f"once lengths are bounded to 1..{limit}; choose a narrower distribution, or another mean"
        )
    if isinstance(shape, Constant) and shape.value > limit:
        raise DistributionError(f"{option} {spec!r}: must be from 1 to {limit}")
    return Lengths(spec, shape, limit)
