"""The options that say which endpoint is meant, and how it is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

import typer

from cli.errors import UsageError

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}

ENDPOINT: Final = "Endpoint"


def seconds(value: str | float) -> float:
    """Read a duration: `60`, `90s`, `5m`, `1.5h`, `250ms`. A number, as a default is, stays what it is.

    Raises:
        typer.BadParameter: It is none.
    """
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise typer.BadParameter(f"{value!r} is not a duration; write 60, 90s, 5m or 1.5h")
    return float(match[1]) * _SECONDS[match[2]]


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSettings:
    """What can be said about an endpoint; field by field an option."""

    url: Annotated[
        str,
        typer.Option(
            envvar="LOADGEN_URL",
            help="Base URL, with or without /v1.",
            rich_help_panel=ENDPOINT,
        ),
    ]
    model: Annotated[
        str,
        typer.Option(help="Model name, as the endpoint knows it.", rich_help_panel=ENDPOINT),
    ]
    protocol: Annotated[
        Literal["chat", "completions"],
        typer.Option(help="Chat completions or completions.", rich_help_panel=ENDPOINT),
    ] = "chat"
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["LOADGEN_API_KEY", "OPENAI_API_KEY"],
            show_envvar=True,
            help="Bearer token; better given in the environment. Never written to the log.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    header: Annotated[
        list[str],
        typer.Option(
            metavar="'NAME: VALUE'",
            help="A further request header; repeatable. The log keeps the name only.",
            rich_help_panel=ENDPOINT,
        ),
    ] = field(default_factory=list)
    timeout: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="For each request, connection included.",
            rich_help_panel=ENDPOINT,
        ),
    ] = 600.0
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Do not verify the TLS certificate.", rich_help_panel=ENDPOINT),
    ] = False

    def __post_init__(self) -> None:
        if not self.model.strip() or self.model.encode(errors="replace").decode() != self.model:
            raise UsageError(f"--model {self.model!r}: not the name of a model")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError("--api-key: there is a character in it that no HTTP header can carry")
