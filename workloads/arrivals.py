"""Arrival processes: one function and one row of `ARRIVAL_PROCESSES` each.

The choices of `--arrival`, the schedules that are drawn and the tables of the docs are read from these rows.
Other packages add processes by entry points (docs/adding-an-arrival-process.md).

A process has unit rate: it is a sequence of positions whose distances have a mean of 1, where a position is
the number of requests expected until an arrival. Each sequence is endless, never decreases, and depends on
nothing but its arguments: the same seed gives the same one on every platform.
"""

from __future__ import annotations

import random
from functools import partial
from itertools import accumulate, count
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.errors import ArrivalError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, slots=True)
class ArrivalProcess:
    """The facts of an arrival process.

    Attributes:
        positions: Makes the sequence of positions from a seed and a burstiness.
        variance: The variance of a distance by its burstiness; 0 where all distances are equal.
        takes_burstiness: Whether `--burstiness` chooses its shape; the others ignore it.
        distances: The distribution of its distances at unit rate, for the docs.
    """

    positions: Callable[[int, float], Iterator[float]]
    variance: Callable[[float], float]
    takes_burstiness: bool = False
    distances: str = ""


def poisson(seed: int, _burstiness: float) -> Iterator[float]:
    """A Poisson process: exponential distances."""
    return _summed(partial(random.Random(seed).expovariate, 1.0))  # noqa: S311 (a schedule, not a secret)


def constant(_seed: int, _burstiness: float) -> Iterator[int]:
    """Equal distances, from 0 on: integers, so that no rounding adds up."""
    return count()


def gamma(seed: int, burstiness: float) -> Iterator[float]:
    """Gamma-distributed distances: burstier than a Poisson process with a shape below 1, more even above.

    Args:
        seed: Of the sequence.
        burstiness: The shape, above 0; the coefficient of variation of the distances is 1 / √shape.
    """
    draw = random.Random(seed).gammavariate  # noqa: S311 (a schedule, not a secret)
    return _summed(partial(draw, burstiness, 1.0 / burstiness))


def uniform(seed: int, _burstiness: float) -> Iterator[float]:
    """Distances evenly distributed from 0 to 2."""
    return _summed(partial(random.Random(seed).uniform, 0.0, 2.0))  # noqa: S311 (a schedule, not a secret)


ARRIVAL_PROCESSES: Final[Mapping[str, ArrivalProcess]] = {
    "poisson": ArrivalProcess(
        distances="exponential, mean 1: many independent callers", positions=poisson, variance=lambda _: 1.0
    ),
    "constant": ArrivalProcess(
        distances="1, the first request at 0 s", positions=constant, variance=lambda _: 0.0
    ),
    "gamma": ArrivalProcess(
        distances="gamma of shape B and mean 1, `--burstiness B`",
        positions=gamma,
        variance=lambda burstiness: 1 / burstiness,
        takes_burstiness=True,
    ),
    "uniform": ArrivalProcess(distances="uniform from 0 to 2", positions=uniform, variance=lambda _: 1 / 3),
}
"""By the names of `--arrival` and of the log's `load.kind`."""

DEFAULT_ARRIVAL: Final = "poisson"


def arrival_process(name: str) -> ArrivalProcess:
    """The process of a name; raise `ArrivalError` for an unknown one, `PluginError` for an unusable one."""
    if name in ARRIVAL_PROCESSES:
        return ARRIVAL_PROCESSES[name]
    from workloads.registry import added, load

    others = added("arrivals")
    if name not in others:
        names = [*ARRIVAL_PROCESSES, *others]
        near = did_you_mean(name, names) or f": there are {', '.join(names)}"
        raise ArrivalError(f"unknown arrival process {name!r}{near}")
    process: ArrivalProcess = load(others[name])
    return process


def _summed(draw: Callable[[], float]) -> Iterator[float]:
    # None is never drawn, so this iterator has no end, and takes no line of Python for each.
    return accumulate(iter(draw, None))
