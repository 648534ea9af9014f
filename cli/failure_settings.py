"""The options that say what is done about failures: other attempts, bounds, and when a run is given up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from cli.endpoint_settings import EndpointSettings

FAILURES: Final = "Failures"

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kMG]i?)?B?", re.IGNORECASE)
_BYTES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)(%?)")


def size(value: str | int) -> int:
    """Read a number of bytes: `10MB`, `64MiB`, `500k`. A number, as a default is, stays what it is.

    Raises:
        typer.BadParameter: It is none.
    """
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise typer.BadParameter(f"{value!r} is not a size; write 10MB, 64MiB or 1000000")
    return round(float(match[1]) * _BYTES[(match[2] or "").lower()])


def share(value: str | float) -> float:
    """Read a share: `10%` or `0.1`.

    Raises:
        typer.BadParameter: It is none.
    """
    if not isinstance(value, str):
        return value
    match = _SHARE.fullmatch(value.strip())
    found = float(match[1]) / (100 if match[2] else 1) if match else None
    if found is None or found > 1:
        raise typer.BadParameter(f"{value!r} is not a share; write 10% or 0.1")
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureSettings(EndpointSettings):
    """What can be said about failures; field by field an option."""

    retry: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Further attempts at a request that failed in passing; each is in the log.",
            rich_help_panel=FAILURES,
        ),
    ] = 0
    max_errors: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="End the run, as invalid, when so many measured requests have failed.",
            rich_help_panel=FAILURES,
        ),
    ] = None
    max_error_rate: Annotated[
        float | None,
        typer.Option(
            parser=share,
            metavar="SHARE",
            help="Likewise when more than this share has failed, of at least 20: 10% or 0.1.",
            rich_help_panel=FAILURES,
        ),
    ] = None
    max_response: Annotated[
        int,
        typer.Option(
            parser=size,
            metavar="SIZE",
            help="Give a response up that takes more to keep: 10MB, 64MiB.",
            show_default="64MiB",
            rich_help_panel=FAILURES,
        ),
    ] = 67_108_864
