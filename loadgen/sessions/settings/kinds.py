"""Kinds of values of options: durations, shares, sizes and rules, with how each is read and written."""

from __future__ import annotations

import re
from typing import Annotated, Final

from loadgen.sessions.settings.option import Option, OptionValueError
from workloads import units

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]i?)?B?", re.IGNORECASE)
_BYTES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)(%?)")
_SCORE: Final = re.compile(r"\baccuracy\.([\w-]+)", re.ASCII)


def seconds(value: str | float) -> float:
    """Read a duration: `60`, `90s`, `5m`, `1.5h`, `250ms`. A number, such as a default, is returned."""
    if not isinstance(value, str):
        return value
    try:
        duration_s = units.seconds(value)
    except ValueError as error:
        raise OptionValueError(str(error)) from error
    if duration_s < 0:
        raise OptionValueError(f"{value!r} is not a duration from 0 on")
    return duration_s


def size(value: str | int) -> int:
    """Read a number of bytes: `10MB`, `64MiB`, `500k`. A number, such as a default, is returned as it is."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise OptionValueError(f"{value!r} is not a size; write 10MB, 64MiB or 1000000")
    return round(float(match[1]) * _BYTES[(match[2] or "").lower()])


def share(value: str | float) -> float:
    """Read a share: `10%` or `0.1`."""
    if not isinstance(value, str):
        return value
    match = _SHARE.fullmatch(value.strip())
    fraction = float(match[1]) / (100 if match[2] else 1) if match else None
    if fraction is None or fraction > 1:
        raise OptionValueError(f"{value!r} is not a share; write 10% or 0.1")
    return fraction


def number_or_ramp(value: str | int) -> int | str:
    """Read a number of users: `64`, or a ramp such as `ramp:1..64,2m`, which stays a text."""
    text = str(value).strip()
    if ":" in text:
        return text
    try:
        return int(text)
    except ValueError:
        raise OptionValueError(
            f"{text!r} is neither a whole number nor a ramp, as in ramp:1..64,2m"
        ) from None


def canonical_rule(text: str) -> str:
    """A rule, or a metric, with the benchmark's own name: `accuracy.mmlu_pro` for `accuracy.MMLU-Pro`.

    Other names stay as they are.
    """
    if not _SCORE.search(text):
        return text
    from workloads.catalog import task_name

    return _SCORE.sub(lambda match: f"accuracy.{task_name(match[1]) or match[1]}", text)


def canonical_task(text: str) -> str:
    """A task with the benchmark's own name: `mmlu_pro:shots=0` for `MMLU-Pro:shots=0`."""
    from workloads.catalog import canonical

    return canonical(text)


Seconds = Annotated[
    float,
    Option(metavar="TIME", parser=seconds, spell=lambda value: units.duration_text(value) if value else "0"),
]
Share = Annotated[float, Option(metavar="SHARE", parser=share, spell=lambda value: f"{value * 100:.3g}%")]
Size = Annotated[int, Option(metavar="SIZE", parser=size, spell=lambda value: f"{value / 2**20:g}MiB")]
Rule = Annotated[str, Option(metavar="RULE", parser=canonical_rule)]
