"""The power that a system draws, as given by the user: a client of an endpoint cannot measure it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from loadgen.sessions.errors import UsageError

SOURCES: Final = ("provisioned", "nvml", "wall")
"""The source of a figure: the provisioned power, the GPUs' own counters, a meter at the wall. Rules name
one of them, and figures of two sources are never compared."""


@dataclass(frozen=True, slots=True)
class PowerReading:
    """The power that a system draws: `run.power` of its report.

    Attributes:
        source: One of `SOURCES`.
        watts: Above 0.
    """

    source: str
    watts: float


def power_of(option: str | None, *, series: bool = False) -> PowerReading | None:
    """The value of `--power`; None without the option.

    Args:
        option: `SOURCE:WATTS`.
        series: Whether it is for several runs: a measured figure belongs to one.
    """
    if option is None:
        return None
    source, _, figure = option.partition(":")
    if source not in SOURCES:
        from rulesets.errors import suggestion

        raise UsageError(
            f"--power {option}: {source!r} is not a source of a figure; {suggestion(source, SOURCES)} "
            "Write SOURCE:WATTS, e.g. wall:5200"
        )
    if series and source != "provisioned":
        raise UsageError(
            f"--power {option}: a measured power belongs to one run, and this is a series; "
            "evaluate each run separately, or give the provisioned power"
        )
    return PowerReading(source, _watts(option, figure))


def _watts(option: str, figure: str) -> float:
    try:
        watts = float(figure)
    except ValueError:
        watts = math.nan
    if not 0 < watts < math.inf:
        raise UsageError(f"--power {option}: must have watts above 0, e.g. {option.partition(':')[0]}:5200")
    return watts
