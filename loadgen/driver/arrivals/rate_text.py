"""Rates as text: the notation of `--rate` and of a stage's `rate`.

    20                      always 20 req/s
    ramp:1..50,60s          from 1 to 50 within 60 s, linearly, then 50
    ramp-exp:1..50,60s      by the same factor each second
    steps:10..50x5,60s      10, 20, 30, 40 and 50, each for 12 s, then 50
    sine:20,10,60s          20 on average, between 10 and 30, in waves of 60 s that begin at 20 and rise
    bursts:5,100,10s,1s     every 10 s: 9 s at 5, then 1 s at 100

Times have a unit (ns, us, ms, s, m, h); without one they are seconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.driver.arrivals.rate_profile import Bursts, ExponentialRamp, Flat, LinearRamp, Sine, Steps
from loadgen.driver.errors import ProfileError
from workloads import units
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.arrivals.rate_profile import Profile

POSSIBLE: Final = (
    "20, ramp:1..50,60s, ramp-exp:1..50,60s, steps:10..50x5,60s, sine:20,10,60s (mean, amplitude, period) "
    "and bursts:5,100,10s,1s (rate, rate of a burst, every, for)"
)

_RATE: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_STEPS: Final = re.compile(r"[0-9]{1,9}")


def profile(text: str) -> Profile:
    """Read a rate; raise `ProfileError`, with the possible forms, for anything else."""
    try:
        return _read(*text.strip().partition(":"))
    except ProfileError as error:
        raise ProfileError(f"{text!r}: {error}. Possible are {POSSIBLE}") from error


def seconds(text: str) -> float:
    """Read a time, as in `60`, `90s`, `5m`, `1.5h` or `250ms`; raise `ProfileError` for anything else."""
    try:
        return units.seconds(text)
    except ValueError as error:
        raise ProfileError(str(error)) from error


def _read(name: str, colon: str, parameters: str) -> Profile:
    if not colon:
        return Flat(_rate(name))
    if name not in _SHAPES:
        raise ProfileError(f"unknown rate {name!r}{did_you_mean(name, _SHAPES)}")
    return _SHAPES[name](parameters)


def _ramp(parameters: str) -> Profile:
    (first, last), time = _way(parameters)
    return LinearRamp(first, last, time)


def _ramp_exp(parameters: str) -> Profile:
    (first, last), time = _way(parameters)
    return ExponentialRamp(first, last, time)


def _steps(parameters: str) -> Profile:
    rates, time = _apart(parameters, ",", "steps:10..50x5,60s")
    ends, number = _apart(rates, "x", "steps:10..50x5,60s")
    if not _STEPS.fullmatch(number.strip()):
        raise ProfileError(f"{number!r} is not a number of steps")
    first, last = _apart(ends, "..", "steps:10..50x5,60s")
    return Steps(_rate(first), _rate(last), seconds(time), int(number))


def _sine(parameters: str) -> Profile:
    mean, amplitude, period = _members(parameters, 3, "a mean, an amplitude and a period")
    return Sine(_rate(mean), _rate(amplitude), seconds(period))


def _bursts(parameters: str) -> Profile:
    what = "a rate, the rate of a burst, how often there is one, and for how long"
    base, burst, every, lasting = _members(parameters, 4, what)
    return Bursts(_rate(base), _rate(burst), seconds(every), seconds(lasting))


def _way(parameters: str) -> tuple[tuple[float, float], float]:
    rates, time = _apart(parameters, ",", "1..50,60s")
    first, last = _apart(rates, "..", "1..50")
    return (_rate(first), _rate(last)), seconds(time)


def _apart(text: str, separator: str, example: str) -> tuple[str, str]:
    first, separated, second = text.partition(separator)
    if not separated:
        raise ProfileError(f"{text!r} has no {separator!r}, as in {example}")
    return first, second


def _members(parameters: str, number: int, what: str) -> list[str]:
    members = parameters.split(",")
    if len(members) != number:
        raise ProfileError(f"{parameters!r} is not {what}, with commas between them")
    return members


def _rate(text: str) -> float:
    match = _RATE.fullmatch(text.strip())
    if match is None:
        raise ProfileError(f"{text.strip()!r} is not a number")
    return float(match[0])


_SHAPES: Final[Mapping[str, Callable[[str], Profile]]] = {
    "ramp": _ramp,
    "ramp-exp": _ramp_exp,
    "steps": _steps,
    "sine": _sine,
    "bursts": _bursts,
}
