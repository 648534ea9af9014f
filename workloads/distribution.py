"""The small language in which times and lengths are chosen, and its samplers.

    50ms                    always 50 ms; constant:50ms is the same
    uniform:10ms..90ms      evenly between the two, ends included
    normal:50ms,10ms        mean and standard deviation
    lognormal:50ms,0.5      median, and the standard deviation of the logarithm
    exponential:50ms        mean

Times have a unit (ns, us, ms, s), lengths have none. A draw below the least possible value (0 for a time,
1 for a length) counts as that value, so that a wide normal distribution has a higher mean than it says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, Generic, TypeVar

from workloads.errors import DistributionError

Sampler = Callable[[Random], float]
"""Draws one value. A pure function of the random state that it is given: same state, same draws."""


_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Constant(Generic[_Number]):
    """The sampler of a value that is always the same: who knows it need not draw.

    Attributes:
        value: That value.
    """

    value: _Number

    def __call__(self, _: Random) -> _Number:
        """Draw it."""
        return self.value


_Read = Callable[[str], float]
"""Reads a number in the unit of what is chosen."""

_NUMBER: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s)?")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_POSSIBLE_TIMES: Final = (
    "50ms, uniform:10ms..90ms, normal:50ms,10ms (mean, deviation), lognormal:50ms,0.5 (median, sigma) "
    "and exponential:50ms (mean), with the units ns, us, ms and s"
)
_POSSIBLE_LENGTHS: Final = (
    "64, uniform:16..128, normal:64,16 (mean, deviation), lognormal:64,0.5 (median, sigma) "
    "and exponential:64 (mean)"
)


def duration(spec: str) -> Sampler:
    """Read a distribution of times.

    Returns:
        A sampler of seconds, never negative.

    Raises:
        DistributionError: `spec` is not one; the message says what is possible.
    """
    draw = _parse(spec, _SHAPES, _seconds, _POSSIBLE_TIMES)
    if isinstance(draw, Constant):
        return draw
    return lambda rng: max(0.0, draw(rng))


def length(spec: str) -> Callable[[Random], int]:
    """Read a distribution of lengths.

    Returns:
        A sampler of whole numbers, never below 1.

    Raises:
        DistributionError: `spec` is not one; the message says what is possible.
    """
    draw = _parse(spec, {**_SHAPES, "uniform": _uniform_whole}, _count, _POSSIBLE_LENGTHS)
    if isinstance(draw, Constant):
        return Constant(round(draw.value))
    return lambda rng: max(1, round(draw(rng)))


def _parse(spec: str, shapes: Mapping[str, _Shape], read: _Read, possible: str) -> Sampler:
    name, colon, parameters = spec.strip().partition(":")
    if not colon:
        name, parameters = "constant", name
    try:
        return shapes[name](parameters, read)
    except KeyError as error:
        raise DistributionError(
            f"{spec!r}: there is no distribution {name!r}. Possible are {possible}"
        ) from error
    except ValueError as error:
        raise DistributionError(f"{spec!r}: {error}. Possible are {possible}") from error


def _number(text: str) -> tuple[float, str | None]:
    matched = _NUMBER.fullmatch(text.strip())
    if matched is None:
        raise ValueError(f"{text!r} is not a number from 0 on, with or without a unit")
    return float(matched[1]), matched[2]


def _seconds(text: str) -> float:
    number, unit = _number(text)
    if unit is None and number:
        raise ValueError(f"{text!r} has no unit")
    return number * _SECONDS[unit or "s"]


def _plain(text: str) -> float:
    number, unit = _number(text)
    if unit is not None:
        raise ValueError(f"{text!r} must not have a unit")
    return number


def _count(text: str) -> float:
    number = _plain(text)
    if number < 1 or number != int(number):
        raise ValueError(f"{text!r} is not a whole number from 1 on")
    return number


def _pair(parameters: str, separator: str) -> tuple[str, str]:
    first, found, second = parameters.partition(separator)
    if not found:
        raise ValueError(f"{parameters!r} is not two parameters with {separator!r} between them")
    return first, second


def _range(parameters: str, read: _Read) -> tuple[float, float]:
    low, high = map(read, _pair(parameters, ".."))
    if low > high:
        raise ValueError("the lower end is above the upper one")
    return low, high


def _constant(parameters: str, read: _Read) -> Sampler:
    return Constant(read(parameters))


def _uniform(parameters: str, read: _Read) -> Sampler:
    low, high = _range(parameters, read)
    return lambda rng: rng.uniform(low, high)


def _uniform_whole(parameters: str, read: _Read) -> Sampler:
    low, high = map(int, _range(parameters, read))
    return lambda rng: rng.randint(low, high)


def _normal(parameters: str, read: _Read) -> Sampler:
    first, second = _pair(parameters, ",")
    # The deviation of a length need not be a whole number.
    mean, deviation = read(first), (_plain if read is _count else read)(second)
    return lambda rng: rng.gauss(mean, deviation)


def _lognormal(parameters: str, read: _Read) -> Sampler:
    first, second = _pair(parameters, ",")
    median, sigma = read(first), _plain(second)
    return lambda rng: median * math.exp(rng.gauss(0.0, sigma))


def _exponential(parameters: str, read: _Read) -> Sampler:
    mean = read(parameters)
    return lambda rng: mean * rng.expovariate(1.0)


_Shape = Callable[[str, _Read], Sampler]
_SHAPES: Final[Mapping[str, _Shape]] = {
    "constant": _constant,
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "exponential": _exponential,
}
