"""Whether an endpoint kept up follows from what it completed, beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.findings.rate_held import BLOCKS, judged, kept_up

if TYPE_CHECKING:
    from collections.abc import Callable


def served(run: Any, every_ms: float, answer_ms: float, until_ms: float) -> Any:
    """A run of a rate, each request of which is answered `answer_ms` after the one before it."""
    at_ms, free = 0.0, 0.0
    while at_ms < until_ms:
        free = max(at_ms, free) + answer_ms
        run.answers(free, at_ms=at_ms)
        at_ms += every_ms
    return run.stops(until_ms).ends(free)


def test_one_that_keeps_up_is_not_behind(a_run: Callable[..., Any]) -> None:
    """Fifty a second, each answered within its 20 ms."""
    folder = served(a_run(kind="constant", rate=50.0), 20, 19, 4000).write()
    seen = kept_up(folder, 50.0)
    assert seen is not None
    assert not seen.behind
    assert abs(seen.completed_rate - 50) < 1


def test_one_that_falls_behind_is(a_run: Callable[..., Any]) -> None:
    """Fifty a second, of which it answers forty."""
    folder = served(a_run(kind="constant", rate=50.0), 20, 25, 4000).write()
    seen = kept_up(folder, 50.0)
    assert seen is not None
    assert seen.behind
    assert abs(seen.completed_rate - 40) < 1


def test_a_run_in_which_nothing_completed_is_not_evaluated(a_run: Callable[..., Any]) -> None:
    """There is nothing to count."""
    assert kept_up(a_run(kind="constant", rate=5.0).fails().stops(100).ends().write(), 5.0) is None


def test_one_that_was_short_of_requests_is_not_behind() -> None:
    """It completed less than the rate calls for, and all that was issued."""
    assert not judged(50.0, 8.0, issued=300, completed=[37] * BLOCKS).behind
    assert judged(50.0, 8.0, issued=380, completed=[37] * BLOCKS).behind


def test_a_shortfall_that_chance_explains_does_not_count() -> None:
    """Blocks that differ as much as this tell less than blocks that are all alike."""
    assert not judged(50.0, 8.0, issued=410, completed=[20, 70, 30, 60, 20, 70, 30, 80]).behind
    assert judged(50.0, 8.0, issued=410, completed=[47, 48] * 4).behind
