"""The options of the endpoint and its protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from loadgen.driver.client.protocols import (
    PROTOCOLS,
    ProtocolEntry,
    names_where,
    protocol_entry,
)
from loadgen.driver.errors import UnknownProtocolError
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.option import Option, OptionValueError
from workloads import units

ENDPOINT: Final = "Endpoint"

API_KEYS: Final = ("LOADGEN_API_KEY", "OPENAI_API_KEY")
"""Environment variables with the API key; the first that is set counts."""

DEFAULT_URL: Final = "http://localhost:8000"
"""The default address of vLLM."""


def seconds(value: str | float) -> float:
    """Read a duration: `60`, `90s`, `5m`, `1.5h`, `250ms`. A number, such as a default, is returned as it is.

    Raises:
        OptionValueError: It is not a duration.
    """
    if not isinstance(value, str):
        return value
    try:
        duration_s = units.seconds(value)
    except ValueError as error:
        raise OptionValueError(str(error)) from error
    if duration_s < 0:
        raise OptionValueError(f"{value!r} is not a duration from 0 on")
    return duration_s


def protocol_name(value: str) -> str:
    """Read the name of a protocol, which may be a plug-in's.

    Raises:
        OptionValueError: No protocol has this name.
    """
    try:
        protocol_entry(value)
    except UnknownProtocolError as error:
        raise OptionValueError(str(error)) from error
    return value


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSettings:
    """The options of an endpoint, one per field."""

    url: Annotated[
        str | list[str] | None,
        Option(
            envvar=("LOADGEN_URL",),
            help=f"Base URL, with or without /v1. Default: {DEFAULT_URL}.",
            panel=ENDPOINT,
        ),
    ] = None
    model: Annotated[
        str,
        Option(
            help="Name of the model, as the endpoint knows it. Default: the only one that it lists.",
            show_default=False,
            panel=ENDPOINT,
        ),
    ] = ""
    protocol: Annotated[
        str,
        Option(
            parser=protocol_name,
            metavar="|".join(PROTOCOLS),
            examples=tuple(PROTOCOLS),
            help="The API: OpenAI's, Anthropic's (messages), SGLang's; stream (sse), JSON (json), plug-in.",
            panel=ENDPOINT,
        ),
    ] = "chat"
    path: Annotated[
        str | None,
        Option(
            metavar="/PATH",
            help="sse, json: path of the requests. Default: /generate.",
            panel=ENDPOINT,
        ),
    ] = None
    body: Annotated[
        str | None,
        Option(
            metavar="JSON",
            help="sse, json: the request body. Placeholders: {prompt}, {system}, {messages}, {tools}, "
            "{model}, {max_tokens}, {temperature} and {seed}.",
            panel=ENDPOINT,
        ),
    ] = None
    text_at: Annotated[
        str | None,
        Option(
            metavar="PLACE",
            help="sse, json: place of the text, e.g. token.text or choices.0.text. Default: text.",
            panel=ENDPOINT,
        ),
    ] = None
    tokens_at: Annotated[
        str | None,
        Option(
            metavar="PLACE",
            help="sse, json: place of the number of output tokens, if there is one.",
            panel=ENDPOINT,
        ),
    ] = None
    finish_at: Annotated[
        str | None,
        Option(
            metavar="PLACE",
            help="sse, json: place of the finish reason, if there is one.",
            panel=ENDPOINT,
        ),
    ] = None
    cumulative: Annotated[
        bool,
        Option(
            "--cumulative",
            help="sse: each event has the whole text so far instead of the new part.",
            panel=ENDPOINT,
        ),
    ] = False
    api_key: Annotated[
        str | None,
        Option(
            envvar=API_KEYS,
            show_envvar=True,
            help="API key, preferably in the environment; @FILE reads a file. Never logged.",
            panel=ENDPOINT,
        ),
    ] = field(default=None, repr=False)
    header: Annotated[
        list[str],
        Option(
            metavar="'NAME: VALUE'|@FILE",
            help="Additional request header, or a file of headers; repeatable. Only names are logged.",
            panel=ENDPOINT,
        ),
    ] = field(default_factory=list, repr=False)
    timeout: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Time limit of a request, with connecting and retries.",
            show_default="10m",
            panel=ENDPOINT,
        ),
    ] = 600.0
    connect_timeout: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Time limit of DNS, TCP and TLS handshake together.",
            show_default="10s",
            panel=ENDPOINT,
        ),
    ] = 10.0
    first_byte_timeout: Annotated[
        float | None,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Time limit from the end of the request to the first byte of the response. Default: "
            "no limit.",
            panel=ENDPOINT,
        ),
    ] = None
    idle_timeout: Annotated[
        float | None,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Longest pause within a response; no limit by default.",
            panel=ENDPOINT,
        ),
    ] = None
    insecure: Annotated[
        bool,
        Option("--insecure", help="Do not verify the TLS certificate.", panel=ENDPOINT),
    ] = False

    @property
    def urls(self) -> list[str]:
        """The URLs of the endpoints; `DEFAULT_URL` where none is given."""
        urls = [self.url] if isinstance(self.url, str) else list(self.url or ())
        return urls or [DEFAULT_URL]

    def __post_init__(self) -> None:
        self._check_protocol()
        if (self.model and not self.model.strip()) or self.model.encode(
            errors="replace"
        ).decode() != self.model:
            raise UsageError(f"--model {self.model!r}: not the name of a model")
        if self.api_key is not None and not (self.api_key.isascii() and self.api_key.isprintable()):
            raise UsageError("--api-key: a character cannot be in an HTTP header")

    @property
    def protocol_entry(self) -> ProtocolEntry:
        """The row of the protocol in the table of protocols.

        Raises:
            UsageError: The protocol does not exist.
        """
        try:
            return protocol_entry(self.protocol)
        except UnknownProtocolError as error:
            raise UsageError(f"--protocol {error}") from error

    def _check_protocol(self) -> None:
        entry = self.protocol_entry
        described = {
            "--path": self.path,
            "--body": self.body,
            "--text-at": self.text_at,
            "--tokens-at": self.tokens_at,
            "--finish-at": self.finish_at,
            "--cumulative": self.cumulative,
        }
        set_options = [option for option, value in described.items() if value not in (None, False)]
        if set_options and not entry.described:
            raise UsageError(
                f"{' and '.join(set_options)}: --protocol {self.protocol} needs no description; "
                f"only {names_where(lambda each: each.described)} take one"
            )
        if self.cumulative and entry.stream == "never":
            raise UsageError("--cumulative applies to the events of a stream: use it with --protocol sse")
