"""MLPerf's early stopping: whether so few samples prove that a percentile is below a bound.

LoadGen, loadgen/early_stopping.cc and results.cc (PerformanceSummary::EarlyStopping); MLPerf Inference rules,
appendix "Early stopping criterion". A sample is over where it exceeds the bound; of a percentile p a share
of 1 - p may be. With c the confidence and d the tolerance,

    h_min(t) = min { h ≥ 1 : I_{p-d}(h, t + 1) < 1 - c },    n_min(t) = h_min(t) + t

so that n samples with t of them over are enough from n_min(t) on. I_{p-d}(h, t + 1) is P(B ≤ t) of
B ~ Binomial(h + t, 1 - p + d): were the percentile over the bound, so few over it would be seen with a
probability below 1 - c. It falls in h, and n ≥ n_min(t) is P(B ≤ t) < 1 - c at n trials: all is found by
halving.

Two forms, and two verdicts. The *test* (Server, Interactive) passes where n ≥ n_min(t), t = 0 included. The
*estimate* (SingleStream, MultiStream, and runs of endpoints) is the t*-th largest of n samples, t* being the
largest t ≥ 1 that n is enough for; it is at most the bound where at most t* - 1 samples are over.
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, cast

from rulesets.statistics.binomial import at_most
from rulesets.statistics.probability import exactly, proper
from rulesets.statistics.smallest import MOST_SAMPLES, smallest

if TYPE_CHECKING:
    from rulesets.statistics.probability import Probability

CONFIDENCE: Final = 0.99
TOLERANCE: Final = 0.0


def h_min(
    t: int,
    p: Probability,
    confidence: Probability = CONFIDENCE,
    tolerance: Probability = TOLERANCE,
) -> int:
    """How many samples must not be over for t that are.

    Args:
        t: At least 0.
        p: The percentile, as a share.
        confidence: c.
        tolerance: d, less than p.

    Raises:
        ValueError: A share is not between 0 and 1.
    """
    share, doubt = _share(p, tolerance), float(1 - proper(confidence))
    return cast("int", smallest(lambda h: at_most(t, h + t, share) < doubt))


def n_min(
    t: int,
    p: Probability,
    confidence: Probability = CONFIDENCE,
    tolerance: Probability = TOLERANCE,
) -> int:
    """How many samples are enough where t are over; see `h_min`."""
    return h_min(t, p, confidence, tolerance) + t


def most_over(
    n: int,
    p: Probability,
    confidence: Probability = CONFIDENCE,
    tolerance: Probability = TOLERANCE,
) -> int | None:
    """t*: how many of n samples may be over in the test; None where n is below n_min(0)."""
    share, doubt = _share(p, tolerance), float(1 - proper(confidence))
    too_many = bisect_left(range(n), doubt, key=lambda t: at_most(t, n, share))
    return too_many - 1 if too_many else None


def estimate_rank(
    n: int,
    p: Probability,
    confidence: Probability = CONFIDENCE,
    tolerance: Probability = TOLERANCE,
) -> int | None:
    """The rank of the estimate, n - t* from 0; None where n is below n_min(1)."""
    t = most_over(n, p, confidence, tolerance)
    return n - t if t else None


def samples_needed(
    over: int,
    n: int,
    p: Probability,
    form: Literal["test", "estimate"] = "test",
    confidence: Probability = CONFIDENCE,
    tolerance: Probability = TOLERANCE,
) -> int | None:
    """The approximate number of samples that would pass at an unchanged share of misses.

    Args:
        over: Of `n`.
        n: Samples so far; of none, none are over.
        p: The percentile, as a share.
        form: Which of the two is to pass.
        confidence: c.
        tolerance: d, less than p.

    Returns:
        At least n; None where no number would, or none up to `MOST_SAMPLES`.
    """
    start = max(n, 1)
    if Fraction(over, start) >= _share(p, tolerance):
        return None
    spare = int(form == "estimate")

    def enough(count: int) -> bool:
        allowed = most_over(count, p, confidence, tolerance)
        return allowed is not None and -(-over * count // start) + spare <= allowed

    return smallest(enough, start, MOST_SAMPLES)


def _share(p: Probability, tolerance: Probability) -> Fraction:
    """The share that may be over: 1 - p + d."""
    return proper(1 - proper(p) + exactly(tolerance))
