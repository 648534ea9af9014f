"""The options of failures: retries, bounds, and when a run is ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

from loadgen.sessions.settings.option import Option, OptionValueError

FAILURES: Final = "Failures"

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]i?)?B?", re.IGNORECASE)
_BYTES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)(%?)")


def size(value: str | int) -> int:
    """Read a number of bytes: `10MB`, `64MiB`, `500k`. A number, such as a default, is returned as it is.

    Raises:
        OptionValueError: It is not a size.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise OptionValueError(f"{value!r} is not a size; write 10MB, 64MiB or 1000000")
    return round(float(match[1]) * _BYTES[(match[2] or "").lower()])


def share(value: str | float) -> float:
    """Read a share: `10%` or `0.1`.

    Raises:
        OptionValueError: It is not a share.
    """
    if not isinstance(value, str):
        return value
    match = _SHARE.fullmatch(value.strip())
    fraction = float(match[1]) / (100 if match[2] else 1) if match else None
    if fraction is None or fraction > 1:
        raise OptionValueError(f"{value!r} is not a share; write 10% or 0.1")
    return fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureSettings:
    """Options of failures."""

    retry: Annotated[
        int,
        Option(
            metavar="N",
            help="Retry transient failures up to N times; each attempt is logged.",
            panel=FAILURES,
        ),
    ] = 0
    max_errors: Annotated[
        int | None,
        Option(
            metavar="N",
            help="End the run, as invalid, when N measured requests have failed.",
            panel=FAILURES,
        ),
    ] = None
    max_error_rate: Annotated[
        float | None,
        Option(
            parser=share,
            metavar="SHARE",
            help="Share of failed requests above which the run is invalid: 10% or 0.1 (5% if not given). "
            "If given, the run ends there, from 20 requests on.",
            panel=FAILURES,
        ),
    ] = None
    max_response: Annotated[
        int,
        Option(
            parser=size,
            metavar="SIZE",
            help="Give up a response that is larger than this: 10MB, 64MiB.",
            show_default="64MiB",
            panel=FAILURES,
        ),
    ] = 67_108_864
