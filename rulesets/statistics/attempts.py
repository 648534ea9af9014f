"""Several attempts at each question: pass@k and pass^k, without bias, from n attempts of which c passed."""

from __future__ import annotations

import math


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
