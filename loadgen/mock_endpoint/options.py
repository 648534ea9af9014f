"""Everything that can be chosen about a mock endpoint, as one value that travels as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import orjson

from lazy_dataclasses import dataclass, field, fields
from loadgen.mock_endpoint.errors import MockOptionsError
from loadgen.mock_endpoint.request_statements import FORMS

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_MODEL: Final = "mock"
"""The name that a mock endpoint without `models` answers with when a request names none."""

LISTENING: Final = "listening on "
"""What the server's one line on standard output starts with; its base URL follows."""

KEY_VARIABLE: Final = "LOADGEN_MOCK_API_KEY"
"""The environment variable that holds `api_key`, which is not to stand on a command line."""

_MAX_PORT: Final = 65535

_WITHOUT_SCENARIO: Final = (
    *(
        "overrun",
        "speculate",
        "statements",
        "replies",
        "count_eos",
        "hold_calls",
        "cache",
        "cache_blocks",
        "prefill",
        "slowdown",
    ),
    *("close", "refuse", "stall", "die_after", "fail_after", "rate_limit", "result_fault"),
)
"""The options of responses, which a scenario has itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MockOptions:
    """How a mock endpoint behaves.

    Attributes:
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
        models: The model names that are known; any other gets a 404. Empty: every name is known.
        api_key: The bearer token that clients must send; None asks for none.
        ttft: Distribution of the time from a request (or its slot, if it had to wait) to its first token.
        itl: Distribution of the time from one token to the next.
        tokens: Distribution of the length of a reply.
        tokens_per_chunk: How many tokens one event of a stream carries.
        role_chunk: When a chat stream sends the chunk that holds only the role: right before the `first`
            token, `early` (with the response's headers), or never (`none`).
        slots: How many requests are served at once, others wait in order; 0 serves all at once.
        cache: Answer at once what was asked before, as a cache of answers does.
        cache_blocks: How many blocks of prompts a prefix cache keeps, 0 for no limit; None for no cache.
        block_tokens: The tokens of a block of the prefix cache.
        prefill: Distribution of the time that a prompt token costs which no cache has; added to `ttft`.
        slowdown: A time: what each other request that is being served when an answer begins adds to `itl`.
        count_eos: Count an end-of-sequence token, which no event shows, in replies that end by themselves.
        hold_calls: Send tool calls whole, when the last of their tokens is due, as a tool parser does.
        overrun: A time: how long the server goes on generating after a client has left.
        speculate: `DRAFTED:ACCEPTED,…`: decode speculatively, with DRAFTED draft tokens a step, of which
            the steps accept these numbers in turn. A step takes one `itl` and is one event of a stream.
        statements: Forms in which responses state the server's times and drafts of the request.
        close: Close each connection after its first response, which does not announce it.
        refuse: Members of a request's body that are refused with status 422.
        stall: `AT,FOR`, two times: stand still for so long, so long after the first completion request.
        die_after: A time: end so long after the first completion request, cutting off open streams.
        fail_after: A time: answer requests with status 502 so long after the first completion request.
        rate_limit: `REQUESTS/TIME`: answer further requests within that time with status 429.
        result_fault: A fault in the last vector or score of each response: not a number, missing, or of
            another dimension; or `usage` counts characters for tokens.
        replies: A JSONL file of scripted replies.
        truth: The JSONL file that the server's own record of each request goes to; overwritten.
        seed: Seeds every draw. Request n (in order of arrival) draws the same under the same seed.
        tls_cert: Certificate chain (PEM); with it the server speaks TLS.
        tls_key: The certificate's private key (PEM), unless the certificate's file holds it.
        exit_with_parent: End when standard input ends, as it does when the process that holds it dies.
        scenario: Play this scenario (or `chaos`, a mix) to every request, and every other one below its name.
        fault_share: Of the requests in `chaos`, those that meet a fault: from 0 to 1.

    Raises:
        MockOptionsError: A number is out of its range, or options do not go together.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    models: tuple[str, ...] = ()
    api_key: str | None = field(default=None, repr=False)
    ttft: str = "50ms"
    itl: str = "10ms"
    tokens: str = "64"
    tokens_per_chunk: int = 1
    role_chunk: Literal["first", "early", "none"] = "first"
    slots: int = 0
    cache: bool = False
    cache_blocks: int | None = None
    block_tokens: int = 16
    prefill: str = "0"
    slowdown: str | None = None
    count_eos: bool = False
    hold_calls: bool = False
    overrun: str | None = None
    speculate: str | None = None
    statements: tuple[str, ...] = ()
    close: bool = False
    refuse: tuple[str, ...] = ()
    stall: str | None = None
    die_after: str | None = None
    fail_after: str | None = None
    rate_limit: str | None = None
    result_fault: Literal["nan", "missing", "dimension", "characters"] | None = None
    replies: str | Path | None = None
    truth: str | Path | None = None
    seed: int = 0
    tls_cert: str | Path | None = None
    tls_key: str | Path | None = None
    exit_with_parent: bool = False
    scenario: str | None = None
    fault_share: float = 0.2

    def __post_init__(self) -> None:
        defaults = {each.name: each.default for each in fields(self)}
        chosen = [name for name in _WITHOUT_SCENARIO if getattr(self, name) != defaults[name]]
        checks = (
            (
                _is_host(self.host),
                f"{self.host!r} is not a host: choose a name or an address of this machine",
            ),
            (0 <= self.port <= _MAX_PORT, f"port {self.port} does not exist: choose 0 to {_MAX_PORT}"),
            (
                self.tokens_per_chunk >= 1,
                f"{self.tokens_per_chunk} tokens per chunk are too few: choose at least 1",
            ),
            (self.slots >= 0, f"{self.slots} slots cannot be: choose 0 for no limit, or a positive number"),
            (
                (self.cache_blocks or 0) >= 0,
                f"{self.cache_blocks} blocks cannot be: choose 0 for no limit, or a positive number",
            ),
            (self.block_tokens >= 1, f"{self.block_tokens} tokens per block are too few: choose at least 1"),
            (
                self.role_chunk in ("first", "early", "none"),
                f"unknown role chunk {self.role_chunk!r}: choose first, early or none",
            ),
            (self.tls_cert or not self.tls_key, "a TLS key needs its certificate: give the certificate too"),
            (
                not (self.scenario and chosen),
                f"a scenario fixes the responses: leave out {', '.join(chosen)}",
            ),
            (
                not (unknown := set(self.statements) - set(FORMS)),
                f"unknown statements {', '.join(sorted(unknown))}: choose from {', '.join(FORMS)}",
            ),
            (
                not (self.speculate and self.tokens_per_chunk > 1),
                "speculative decoding says how many tokens a chunk has: leave tokens per chunk out",
            ),
            (0 <= self.fault_share <= 1, f"a share of {self.fault_share} is not a share: choose from 0 to 1"),
        )
        for sound, complaint in checks:
            if not sound:
                raise MockOptionsError(complaint)

    def to_json(self) -> str:
        """The options as a JSON object, for `from_json`."""
        return orjson.dumps(self, default=str).decode()

    @classmethod
    def from_json(cls, text: str) -> MockOptions:
        """Parse the output of `to_json`.

        Raises:
            MockOptionsError: It is not a JSON object, or names an option that does not exist.
        """
        try:
            values = orjson.loads(text)
            return cls(
                **(
                    values
                    | {name: tuple(values.get(name, ())) for name in ("models", "refuse", "statements")}
                )
            )
        except (orjson.JSONDecodeError, AttributeError, TypeError) as error:
            raise MockOptionsError(f"{text!r} is not a JSON object of mock options: {error}") from error


def _is_host(name: str) -> bool:
    """Whether a name has the form of a host's: labels of 1 to 63 characters."""
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return bool(name)
