"""The options of the endpoint, or of several that share the load, of the protocol, and of generation."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from lazy_dataclasses import dataclass
from loadgen.driver.client.protocols import (
    PROTOCOLS,
    ProtocolEntry,
    names_where,
    protocol_entry,
)
from loadgen.driver.errors import UnknownProtocolError
from loadgen.driver.requests.order import BalanceName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel, name_reader

ENDPOINT: Final = Panel("Endpoint")

API_KEYS: Final = ("LOADGEN_API_KEY", "OPENAI_API_KEY")
"""Environment variables with the API key; the first that is set counts."""

DEFAULT_URL: Final = "http://localhost:8000"
"""The default address of vLLM."""

MOST_GPUS: Final = 1_000_000


protocol_name: Final = name_reader(protocol_entry, UnknownProtocolError)
"""Read the name of a protocol, which may be a plug-in's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointSettings:
    """The options of an endpoint, one per field."""

    url: str | list[str] | None = ENDPOINT.option(
        f"Base URL, with or without /v1. Default: {DEFAULT_URL}.", envvar=("LOADGEN_URL",)
    )
    model: str = ENDPOINT.option(
        "Name of the model, as the endpoint knows it. Default: the only one that it lists.",
        "",
        show_default=False,
        instead="only [[models]] says which model is asked",
    )
    protocol: str = ENDPOINT.option(
        "The API: OpenAI's, Anthropic's (messages), SGLang's; stream (sse), JSON (json), plug-in.",
        "chat",
        parser=protocol_name,
        metavar="|".join(PROTOCOLS),
        examples=tuple(PROTOCOLS),
    )
    path: str | None = ENDPOINT.option(
        "sse, json: path of the requests. Default: /generate.", metavar="/PATH"
    )
    body: str | None = ENDPOINT.option(
        "sse, json: the request body. Placeholders: {prompt}, {system}, {messages}, {tools}, {model}, "
        "{max_tokens}, {temperature} and {seed}.",
        metavar="JSON",
    )
    text_at: str | None = ENDPOINT.option(
        "sse, json: place of the text, e.g. token.text or choices.0.text. Default: text.", metavar="PLACE"
    )
    tokens_at: str | None = ENDPOINT.option(
        "sse, json: place of the number of output tokens, if there is one.", metavar="PLACE"
    )
    finish_at: str | None = ENDPOINT.option(
        "sse, json: place of the finish reason, if there is one.", metavar="PLACE"
    )
    encoding: Literal["float", "base64"] | None = ENDPOINT.option(
        "Embeddings: encoding of the vectors of a response. Default: the server's."
    )
    dimensions: int | None = ENDPOINT.option("Embeddings: dimension of the vectors. Default: the model's.")
    cumulative: bool = ENDPOINT.switch("sse: each event has the whole text so far instead of the new part.")
    api_key: str | None = ENDPOINT.option(
        "API key, preferably in the environment; @FILE reads a file. Never logged.",
        envvar=API_KEYS,
        secret=True,
        instead="a key does not belong into a file: name the environment variable that holds it, "
        'e.g. api_key_env = "MY_KEY"',
    )
    header: list[str] = ENDPOINT.option(
        "Additional request header, or a file of headers; repeatable. Only names are logged.",
        [],
        metavar="'NAME: VALUE'|@FILE",
        secret=True,
        instead="the values of headers are often secrets: name the environment variables that hold them, "
        'e.g. headers_env = { "X-Team" = "MY_TEAM" }',
    )
    timeout: Seconds = ENDPOINT.option("Time limit of a request, with connecting and retries.", 600.0)
    connect_timeout: Seconds = ENDPOINT.option("Time limit of DNS, TCP and TLS handshake together.", 10.0)
    first_byte_timeout: Seconds | None = ENDPOINT.option(
        "Time limit from the end of the request to the first byte of the response. Default: no limit."
    )
    idle_timeout: Seconds | None = ENDPOINT.option("Longest pause within a response; no limit by default.")
    insecure: bool = ENDPOINT.switch("Do not verify the TLS certificate.")

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
        """The row of the protocol in the table of protocols."""
        try:
            return protocol_entry(self.protocol)
        except UnknownProtocolError as error:
            raise UsageError(f"--protocol {error}") from error

    def _check_protocol(self) -> None:
        entry = self.protocol_entry
        set_options = set_flags(self, "path", "body", "text_at", "tokens_at", "finish_at", "cumulative")
        if set_options and not entry.described:
            raise UsageError(
                f"{' and '.join(set_options)}: --protocol {self.protocol} needs no description; "
                f"only {names_where(lambda each: each.described)} take one"
            )
        if (self.encoding or self.dimensions is not None) and not entry.inputs:
            chosen = " and ".join(set_flags(self, "encoding", "dimensions"))
            raise UsageError(
                f"{chosen}: --protocol {self.protocol} has no vectors; use --protocol embeddings"
            )
        if self.cumulative and entry.stream == "never":
            raise UsageError("--cumulative applies to the events of a stream: use it with --protocol sse")


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointsSettings(EndpointSettings):
    """Options of one endpoint, or of several of one kind."""

    url: list[str] = ENDPOINT.option(
        f"Base URL, with or without /v1, or litellm:; repeatable. Default: {DEFAULT_URL}.",
        [],
        envvar=("LOADGEN_URL",),
        stored=False,
    )
    balance: BalanceName | None = ENDPOINT.option(
        "How to choose among several endpoints: round robin (default), or fewest in flight. A "
        "conversation stays on one endpoint."
    )
    probe: bool = ENDPOINT.option("Ask for the model list before the run.", True)
    gpus: int | None = ENDPOINT.option(
        "Number of GPUs of the endpoint, for tokens per second and GPU (tps_per_gpu)."
    )

    def __post_init__(self) -> None:
        EndpointSettings.__post_init__(self)
        if self.balance is not None and len(self.urls) == 1:
            raise UsageError("--balance is about several endpoints: give --url more than once")
        if self.gpus is not None and not 1 <= self.gpus <= MOST_GPUS:
            raise UsageError(f"--gpus {self.gpus}: must be from 1 to {MOST_GPUS:,}")


TIMEOUT_S: Final = 30.0
"""The default of --timeout for each request: a check should be quick."""


GENERATION: Final = Panel("Generation")

ExtraBody = Annotated[
    str | None,
    GENERATION.declares("Additional members of the request body, e.g. '{\"top_k\": 20}'.", metavar="JSON"),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckSettings(EndpointSettings):
    """The options of `loadgen check`, one per field."""

    url: str | None = ENDPOINT.option(
        f"Base URL, with or without /v1. Default: {DEFAULT_URL}.", envvar=("LOADGEN_URL",)
    )
    timeout: Seconds = ENDPOINT.option(
        "For each of the requests, connecting included; for the model list 10s at most.", TIMEOUT_S
    )
    extra_body: ExtraBody = None
    json: Json = False


MOST_SEED: Final = 2**63 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class GenerationSettings:
    """Options of generation."""

    max_tokens: int | None = GENERATION.option(
        "Maximum of output tokens of each request; a benchmark's smaller limit holds."
    )
    temperature: float | None = GENERATION.option("Sampling temperature.")
    request_seed: int | None = GENERATION.option(
        "Sampling seed to send with every request, for servers with repeatable sampling. (--seed is the "
        "client's.)"
    )
    stream: bool = GENERATION.option("Request a stream. TTFT needs one.", True)
    extra_body: ExtraBody = None

    def check(self, endpoint: EndpointSettings) -> None:
        """Refuse what the protocol of an endpoint cannot ask for."""
        name, protocol = endpoint.protocol, endpoint.protocol_entry
        if not self.stream and protocol.stream == "always":
            raise UsageError(f"--no-stream: --protocol {name} is a stream; use json for one JSON text")
        seed = self.request_seed
        if seed is None:
            return
        if not -MOST_SEED - 1 <= seed <= MOST_SEED:
            raise UsageError(f"--request-seed {seed}: must be a 64-bit integer")
        if protocol.described and "{seed}" not in (endpoint.body or ""):
            raise UsageError(
                f"--request-seed {seed}: --protocol {name} sends what --body says: put "
                'a member such as "seed": "{seed}" into it'
            )
        if not (protocol.seed or protocol.described):
            raise UsageError(
                f"--request-seed {seed}: --protocol {name} has no such member; "
                f"{names_where(lambda each: each.seed)} have it; elsewhere, --extra-body adds what the "
                "server knows"
            )
