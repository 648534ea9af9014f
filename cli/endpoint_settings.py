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
        str | list[str],
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
        Literal["chat", "completions", "responses", "messages", "sse", "json"],
        typer.Option(
            help="OpenAI's chat completions, completions or Responses, Anthropic's Messages; or a stream "
            "(sse) or one JSON text (json), which the options below describe.",
            rich_help_panel=ENDPOINT,
        ),
    ] = "chat"
    path: Annotated[
        str | None,
        typer.Option(
            metavar="/PATH",
            help="sse, json: where requests go, from the root of the host. Default: /generate.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    body: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="sse, json: the request body; {prompt}, {system}, {messages}, {tools}, {model}, "
            "{max_tokens} and {temperature} in it are filled in.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    text_at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="sse, json: where the text stands, e.g. token.text or choices.0.text. Default: text.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    tokens_at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="sse, json: where the number of output tokens stands, if the server tells.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    finish_at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="sse, json: where the reason stands why the model stopped, if the server tells.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    cumulative: Annotated[
        bool,
        typer.Option(
            "--cumulative",
            help="sse: each event has the whole text so far, not what is new of it.",
            rich_help_panel=ENDPOINT,
        ),
    ] = False
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["LOADGEN_API_KEY", "OPENAI_API_KEY"],
            show_envvar=True,
            help="The key, better given in the environment; @FILE reads it from a file. Never in the log.",
            rich_help_panel=ENDPOINT,
        ),
    ] = field(default=None, repr=False)
    header: Annotated[
        list[str],
        typer.Option(
            metavar="'NAME: VALUE'|@FILE",
            help="A further request header, or a file of them; repeatable. The log keeps the name only.",
            rich_help_panel=ENDPOINT,
        ),
    ] = field(default_factory=list, repr=False)
    timeout: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="For each request: connecting, and further attempts, included.",
            show_default="10m",
            rich_help_panel=ENDPOINT,
        ),
    ] = 600.0
    connect_timeout: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="For looking the host up, the TCP and the TLS handshake together.",
            show_default="10s",
            rich_help_panel=ENDPOINT,
        ),
    ] = 10.0
    first_byte_timeout: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="From the last byte of the request to the first of the response; no limit by default.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    idle_timeout: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="How long a server may pause within a response; no limit by default.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Do not verify the TLS certificate.", rich_help_panel=ENDPOINT),
    ] = False

    @property
    def urls(self) -> list[str]:
        """Where the endpoints are: one, or as many as a command takes."""
        return [self.url] if isinstance(self.url, str) else list(self.url)

    def __post_init__(self) -> None:
        self._check_protocol()
        if not self.model.strip() or self.model.encode(errors="replace").decode() != self.model:
            raise UsageError(f"--model {self.model!r}: not the name of a model")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError("--api-key: there is a character in it that no HTTP header can carry")

    def _check_protocol(self) -> None:
        described = {
            "--path": self.path,
            "--body": self.body,
            "--text-at": self.text_at,
            "--tokens-at": self.tokens_at,
            "--finish-at": self.finish_at,
            "--cumulative": self.cumulative,
        }
        given = [option for option, value in described.items() if value not in (None, False)]
        if given and self.protocol not in {"sse", "json"}:
            raise UsageError(
                f"{' and '.join(given)}: --protocol {self.protocol} needs no description; "
                "these go with --protocol sse or --protocol json"
            )
        if self.cumulative and self.protocol == "json":
            raise UsageError("--cumulative is about the events of a stream: it goes with --protocol sse")
