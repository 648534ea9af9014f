"""pass@k and pass^k: a table made with exact fractions."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from reporter.accuracy.repeated import all_of, any_of
from tests.conformance.agreement import Agreement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

NEEDS: Final = ("oracle_small/passk_table.jsonl",)

_CLOSE: Final = 1e-12


def agreements(data: Path) -> Iterator[Agreement]:
    """One line each, and one of the estimate with a bias, which must not agree."""
    rows = [json.loads(line) for line in (data / NEEDS[0]).read_text(encoding="utf-8").splitlines()]
    yield _agreement("pass@k", rows, "pass_at_k", any_of)
    yield _agreement("pass^k", rows, "pass_hat_k", all_of)
    yield _agreement("pass@k, 1 - (1 - c/n)^k", rows, "pass_at_k", _biased, shortcut=True)


def _agreement(
    name: str,
    rows: Sequence[Any],
    column: str,
    of: Callable[[int, int, int], float],
    *,
    shortcut: bool = False,
) -> Agreement:
    wrong = [
        f"n={row['n']}, c={row['c']}, k={row['k']}"
        for row in rows
        if not math.isclose(of(row["n"], row["c"], row["k"]), row[column], abs_tol=_CLOSE)
    ]
    return Agreement(name, len(rows), len(rows) - len(wrong), wrong=tuple(wrong), shortcut=shortcut)


def _biased(n: int, c: int, k: int) -> float:
    return 1 - (1 - c / n) ** k
