"""The notation of distributions of times and lengths, and the samplers.

    50ms                    always 50 ms; fixed:50ms and constant:50ms are the same
    uniform:10ms..90ms      evenly between the two, ends included
    normal:50ms,10ms        mean and standard deviation
    lognormal:50ms,0.5      median, and the standard deviation of the logarithm
    exponential:50ms        mean
    histogram:FILE          lengths as often as they were counted, see `workloads.histogram`; for lengths only

Times have a unit (ns, us, ms, s), lengths have none. A draw below the least possible value (0 for a time,
1 for a length) counts as that value, so that a wide normal distribution has a higher mean than it says: see
`workloads.lengths` for who needs the mean to be true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workloads import units
from workloads.distributions import (
    Constant,
    Exponential,
    LengthDistribution,
    LogNormal,
    Normal,
    Sampler,
    Uniform,
    UniformWhole,
)
from workloads.errors import DistributionError, WorkloadError

if TYPE_CHECKING:
    from random import Random

__all__ = ["Constant", "Sampler", "duration", "length", "length_shape"]

_Read = Callable[[str], float]
"""Reads a number in the unit of what is chosen."""

_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d+)?", re.ASCII)
_MOST_S: Final = 1e9
"""The mean of a time, in seconds: thirty years, and no draw is more than a clock can be set to."""

_POSSIBLE_TIMES: Final = (
    "50ms, uniform:10ms..90ms, normal:50ms,10ms (mean, deviation), lognormal:50ms,0.5 (median, sigma) "
    "and exponential:50ms (mean); units: ns, us, ms, s, m, h"
)
_POSSIBLE_LENGTHS: Final = (
    "64, uniform:16..128, normal:64,16 (mean, deviation), lognormal:64,0.5 (median, sigma), "
    "exponential:64 (mean) and histogram:FILE"
)


def duration(spec: str) -> Sampler:
    """Read a distribution of times, as a sampler of seconds, never negative; or raise `DistributionError`."""
    draw = _parse(spec, _SHAPES, _seconds, _POSSIBLE_TIMES)
    if draw.mean > _MOST_S:
        raise DistributionError(f"{spec!r}: its mean is {draw.mean:g} s, and {_MOST_S:g} s are the most")
    if isinstance(draw, Constant):
        return draw
    return lambda rng: max(0.0, draw(rng))


def length(spec: str) -> Callable[[Random], int]:
    """Read a distribution of lengths, as a sampler of whole numbers, never below 1; raise as `duration`."""
    draw = length_shape(spec)
    if isinstance(draw, Constant):
        return Constant(round(draw.value))
    return lambda rng: max(1, round(draw(rng)))


def length_shape(spec: str) -> LengthDistribution:
    """Read a distribution of lengths without bounding or rounding the draws; raise as `duration`."""
    return _parse(spec, _LENGTH_SHAPES, _count, _POSSIBLE_LENGTHS)


def amount(spec: str, *, whole: bool) -> LengthDistribution:
    """Read a distribution of numbers from 0 on, `whole` or not, without bounds; raise as `duration`."""
    return _parse(spec, _LENGTH_SHAPES if whole else _SHAPES, _plain, _POSSIBLE_LENGTHS)


def _parse(spec: str, shapes: Mapping[str, _Reader], read: _Read, possible: str) -> LengthDistribution:
    name, colon, parameters = spec.strip().partition(":")
    if not colon:
        name, parameters = "constant", name
    try:
        return shapes[name](parameters, read)
    except KeyError as error:
        raise DistributionError(
            f"{spec!r}: unknown distribution {name!r}. Possible are {possible}"
        ) from error
    except WorkloadError:
        raise
    except ValueError as error:
        raise DistributionError(f"{spec!r}: {error}. Possible are {possible}") from error


def _seconds(text: str) -> float:
    duration_s = units.seconds(text)
    if duration_s < 0:
        raise ValueError(f"{text!r} is below 0")
    if duration_s and _NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text!r} has no unit")
    return duration_s


def _plain(text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        has_unit = _NUMBER.match(text.strip()) and text.strip()[-1:].isalpha()
        wrong = "must not have a unit" if has_unit else "is not a number from 0 on"
        raise ValueError(f"{text!r} {wrong}")
    return float(text)


def _count(text: str) -> float:
    number = _plain(text)
    if number < 1 or number != int(number):
        raise ValueError(f"{text!r} is not a whole number from 1 on")
    return number


def _pair(parameters: str, separator: str) -> tuple[str, str]:
    first, separated, second = parameters.partition(separator)
    if not separated:
        raise ValueError(f"{parameters!r} is not two parameters with {separator!r} between them")
    return first, second


def _range(parameters: str, read: _Read) -> tuple[float, float]:
    low, high = map(read, _pair(parameters, ".."))
    if low > high:
        raise ValueError("the lower end is above the upper one")
    return low, high


def _constant(parameters: str, read: _Read) -> LengthDistribution:
    return Constant(read(parameters))


def _uniform(parameters: str, read: _Read) -> LengthDistribution:
    return Uniform(*_range(parameters, read))


def _uniform_whole(parameters: str, read: _Read) -> LengthDistribution:
    return UniformWhole(*map(int, _range(parameters, read)))


def _normal(parameters: str, read: _Read) -> LengthDistribution:
    first, second = _pair(parameters, ",")
    # The deviation of a length need not be a whole number.
    return Normal(read(first), (_plain if read is _count else read)(second))


def _lognormal(parameters: str, read: _Read) -> LengthDistribution:
    first, second = _pair(parameters, ",")
    return LogNormal(read(first), _plain(second))


def _exponential(parameters: str, read: _Read) -> LengthDistribution:
    return Exponential(read(parameters))


def _histogram(parameters: str, _: _Read) -> LengthDistribution:
    from workloads.histogram import read_histogram

    return read_histogram(Path(parameters))


_Reader = Callable[[str, _Read], LengthDistribution]
_SHAPES: Final[Mapping[str, _Reader]] = {
    "constant": _constant,
    "fixed": _constant,
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "exponential": _exponential,
}
_LENGTH_SHAPES: Final[Mapping[str, _Reader]] = {**_SHAPES, "uniform": _uniform_whole, "histogram": _histogram}
