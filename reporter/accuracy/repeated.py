"""Several attempts at each question: the chance that one of k passes, or that all k pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


def any_of(n: int, c: int, k: int) -> float:
    """pass@k, the probability that of k attempts any passes: 1 - C(n - c, k) / C(n, k).

    M. Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374, 2021, equation 1.

    Args:
        n: Attempts, at least k.
        c: Those that passed.
        k: At least 1.
    """
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def all_of(n: int, c: int, k: int) -> float:
    """pass^k, the probability that of k attempts all pass: C(c, k) / C(n, k).

    S. Yao et al., "τ-bench", arXiv 2406.12045, 2024; see `any_of` for n, c and k.
    """
    return math.comb(c, k) / math.comb(n, k)


_KS: Final = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""The k that are reported, in addition to the greatest."""


def pass_figures(
    questions: Sequence[tuple[int, int, int]],
) -> tuple[dict[str, float], dict[str, float], dict[str, int]]:
    """pass@k and pass^k, each a mean over the questions with k attempts or more; how many have fewer.

    Args:
        questions: How many had n attempts of which c passed, as (n, c, questions).

    Returns:
        Each by k; empty where no question has several attempts.
    """
    most_attempts = max((n for n, _, _ in questions), default=0)
    if most_attempts <= 1:
        return {}, {}, {}
    one_of, all_pass, excluded = {}, {}, {}
    for k in sorted({k for k in _KS if k < most_attempts} | {most_attempts}):
        having = [(n, c, count) for n, c, count in questions if n >= k]
        of = sum(count for _, _, count in having)
        one_of[str(k)] = math.fsum(any_of(n, c, k) * count for n, c, count in having) / of
        all_pass[str(k)] = math.fsum(all_of(n, c, k) * count for n, c, count in having) / of
        excluded[str(k)] = sum(count for n, _, count in questions if n < k)
    return one_of, all_pass, excluded
