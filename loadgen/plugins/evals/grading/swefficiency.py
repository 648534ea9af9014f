"""SWE-fficiency: swefficiency/swefficiency at fa356b74, `scripts/eval/get_report.py`.

A patch's speed-up counts only behind the gate of its tests; the score is its share of the expert's speed-up.
"""

from __future__ import annotations

import math
from statistics import harmonic_mean
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Speedup:
    """A patch against the expert's.

    Attributes:
        of_patch: Run time before by run time after; 1 where the patch does not pass its tests or was not run.
        of_expert: That of the expert's patch.
        ratio: The one by the other, the score of the instance.
    """

    of_patch: float
    of_expert: float
    ratio: float


def speedup_of(measured: float | None, of_expert: float, *, passes: bool) -> Speedup:
    """The score of one instance.

    Args:
        measured: Mean run time before the patch by mean run time after; None where nothing was measured.
        of_expert: The same of the expert's patch.
        passes: Whether every test of PASS_TO_PASS passes.

    Raises:
        ValueError: A speed-up is not positive and finite.
    """
    of_patch = measured if passes and measured is not None else 1.0
    if not all(math.isfinite(value) and value > 0 for value in (of_patch, of_expert)):
        raise ValueError(f"a speed-up must be positive and finite, not {of_patch} and {of_expert}")
    return Speedup(of_patch, of_expert, of_patch / of_expert)


def overall(speedups: Sequence[Speedup]) -> float:
    """The harmonic mean of the ratios of all instances.

    Raises:
        ValueError: The list is empty.
    """
    if not speedups:
        raise ValueError("no instance to take the mean of")
    return harmonic_mean([speedup.ratio for speedup in speedups])
