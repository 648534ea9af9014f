"""Standard errors of a mean score: of independent samples, and of samples that come in clusters.

Answers to one question, or questions on one text, resemble each other; taking them for independent makes the
error too small. With n samples in all, G clusters, m the mean and S_c the sum of s - m over cluster c:

    plain      sqrt(Σ s - m squared / (n - 1) / n)     of the central limit theorem, blind to clusters
    sandwich   sqrt(Σ S_c²) / n                        K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986
    miller     the sandwich, its diagonal by the plain error: plain² + Σ_c Σ_{i≠j in c} (s_i-m)(s_j-m) / n²
               E. Miller, "Adding error bars to evals", arXiv 2411.00640, 2024, section 2.2
    corrected  sandwich · sqrt(G / (G - 1))            for few clusters; as statsmodels' cov_type="cluster"
"""

from __future__ import annotations

import math
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Variant = Literal["sandwich", "miller", "corrected"]


def standard_error(clusters: Sequence[Sequence[float]], variant: Variant = "sandwich") -> float | None:
    """The standard error of the mean over all samples, in the unit of the samples.

    Returns:
        None with fewer than two clusters: one says nothing of how they differ.
    """
    nonempty = [cluster for cluster in clusters if cluster]
    if len(nonempty) <= 1:
        return None
    scores = list(chain.from_iterable(nonempty))
    unit, count = unit_of(scores), len(scores)
    mean = fmean(score / unit for score in scores)
    # Roots of sums of squares by hypot, which scales: the squares of scores may be infinite.
    between = math.hypot(*(math.fsum(score / unit - mean for score in cluster) for cluster in nonempty))
    if variant == "corrected":
        between *= math.sqrt(len(nonempty) / (len(nonempty) - 1))
    if variant == "miller":
        within = math.hypot(*(score / unit - mean for score in scores))
        between = math.hypot(between, within / math.sqrt(count - 1))
    return between / count * unit


def plain(scores: Sequence[float]) -> float | None:
    """The standard error of the mean of independent samples; None with fewer than two."""
    if len(scores) <= 1:
        return None
    unit = unit_of(scores)
    mean = fmean(score / unit for score in scores)
    apart = math.hypot(*(score / unit - mean for score in scores))
    return apart / math.sqrt(len(scores) - 1) / math.sqrt(len(scores)) * unit


def unit_of(scores: Sequence[float]) -> float:
    """A power of two near the largest score, a unit with finite sums and squares."""
    return math.ldexp(1.0, math.frexp(max(map(abs, scores)))[1] - 1)
