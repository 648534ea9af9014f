"""Which metrics decide by default: the tail that the runs can tell, by their number of requests."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from reporter.compare.compare_sides import compare, primary
from reporter.compare.compared_metric import DECIDING, metric
from reporter.compare.comparison import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Numbers

    from reporter.compare.side import Side

NAMES = (*DECIDING, *(f"{of}:p({p})" for of in ("ttft", "latency") for p in (95, 90)))


@pytest.fixture(scope="module")
def two(numbers: type[Numbers], side: Callable[..., Side]) -> Callable[..., list[Side]]:
    """Two runs of that many requests each, or groups of runs."""

    def make(*counts: int, runs: int = 1, by: float = 1.0) -> list[Side]:
        def run(n: int, seed: int, slower: float) -> Numbers:
            random = Random(seed)  # noqa: S311 (a simulation, not a secret)
            latencies = [slower * 100 * random.lognormvariate(0, 0.5) for _ in range(n)]
            samples = dict.fromkeys(("ttft", "tpot", "latency"), latencies)
            return numbers(
                samples, {"output_tps": [1000 / slower * random.uniform(0.95, 1.05) for _ in range(20)]}
            )

        return [
            side(
                name,
                *(run(n, 10 * place + each, by if place else 1.0) for each in range(runs)),
                metrics=NAMES,
            )
            for place, (name, n) in enumerate(zip("AB", counts, strict=True))
        ]

    return make


@pytest.mark.parametrize(
    ("counts", "tail"),
    [((60, 60), None), ((140, 140), 90), ((400, 400), 95), ((2000, 2000), 99), ((2000, 400), 95)],
)
def test_the_tail_is_as_high_as_ten_requests_beyond_it(
    counts: tuple[int, int], tail: int | None, two: Callable[..., list[Side]]
) -> None:
    """On the side with fewer; a note says what a higher one would take."""
    chosen, notes = primary(two(*counts))
    tails = [f"{of}:p({tail})" for of in ("ttft", "latency") if tail]
    assert [each.name for each in chosen if each.p is not None] == tails
    assert [each.name for each in chosen if each.p is None] == [
        name for name in DECIDING if ":p(" not in name
    ]
    assert len(notes) == (0 if tail == 99 else 2)
    for note in notes:
        assert "ttft:p(99)" in note or "latency:p(99)" in note
        assert "such requests a side, 10 independent ones beyond it" in note


def test_groups_of_runs_and_reports_keep_the_highest_tail(two: Callable[..., list[Side]]) -> None:
    """There a run is one observation, or has no order to tell from."""
    chosen, notes = primary(two(60, 60, runs=5))
    assert ([each.name for each in chosen], notes) == (list(DECIDING), [])


@pytest.mark.parametrize("n", [100, 400, 2000])
def test_a_server_compared_with_itself_passes(n: int, two: Callable[..., list[Side]]) -> None:
    """With as few as 100 requests; at half the speed it fails."""
    for by, status in ((1.0, "PASS"), (2.0, "FAIL")):
        sides = two(n, n, by=by)
        chosen, notes = primary(sides)
        comparison = compare(sides, chosen, [metric("ttft:p(99)")], Rules(), notes=notes)
        assert comparison.status == status
        assert set(notes) <= set(comparison.notes)
