"""The search for the capacity of one kind of work: loads are doubled, then bisected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from loadgen.plugins.calibration.load_step import Step, Work, limit
from loadgen.sessions.capacity import Capacity, CapacityLimit, LimitedBy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence


NOT_TRIED: Final = CapacityLimit(LimitedBy.LADDER, "more was not tried")


@dataclass(frozen=True, slots=True)
class Ladder:
    """The loads that may be tried.

    Attributes:
        first: Where to start.
        greatest: Where it ends, at least 1.
        precision: The search ends when the least load that did not hold is this much above the greatest that
            held, as a share of that: after a doubling it takes two steps to reach 0.25, and none to reach 1.
    """

    first: int
    greatest: int
    precision: float

    def next_load(self, held: Collection[int], failed: Collection[int]) -> int | None:
        """The load to try next, None when the search is over.

        Args:
            held: The loads that held.
            failed: The loads that did not. A load that held above one that did not is ignored.
        """
        high = min(failed, default=None)
        low = max((load for load in held if high is None or load < high), default=None)
        if low is None and high is None:
            return min(self.first, self.greatest)
        if high is None:
            return None if low == self.greatest else min(2 * (low or 1), self.greatest)
        if low is None:
            return high // 2 or None
        near = high - low <= max(1, self.precision * low)
        return None if near else (low + high) // 2


@dataclass(frozen=True, slots=True)
class ClimbStep:
    """A step, with the limit reached: None for a step that held."""

    step: Step
    limit: CapacityLimit | None

    def to_dict(self) -> dict[str, Any]:
        """The step for `loadgen calibrate --json`: the times have the key `beside`."""
        plain = asdict(self)
        step = plain["step"].items()
        return {**plain, "step": {"beside" if name == "times" else name: value for name, value in step}}


def climb(
    work: Work,
    ladder: Ladder,
    within_ms: float,
    attempts: int,
    take: Callable[[int], Step],
) -> Iterator[ClimbStep]:
    """Take steps until the greatest load that holds is known."""
    held: set[int] = set()
    failed: set[int] = set()
    while (load := ladder.next_load(held, failed)) is not None:
        for _ in range(attempts):
            step = take(load)
            tried = ClimbStep(step, limit(step, work, within_ms))
            yield tried
            if tried.limit is None:
                break
        (failed if tried.limit else held).add(load)


def capacity(steps: Sequence[ClimbStep]) -> Capacity:
    """The capacity by the steps of one kind of work: the most that held below the least that did not."""
    held = {tried.step.load for tried in steps if tried.limit is None}
    over = min((tried for tried in steps if tried.step.load not in held), key=_load, default=None)
    below = [tried for tried in steps if tried.limit is None and (over is None or _load(tried) < _load(over))]
    best = max(below, key=_load, default=None)
    return Capacity(
        greatest=0 if best is None else best.step.load,
        chunks_s=0.0 if best is None else best.step.times.chunks_s,
        over=None if over is None else over.step.load,
        limit=(over.limit if over is not None else None) or NOT_TRIED,
    )


def _load(tried: ClimbStep) -> int:
    return tried.step.load
