"""The options of `loadgen mock`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Final, Literal

from loadgen.mock_endpoint.options import MockOptions
from loadgen.sessions.settings.option import Option

_TIMING: Final = "Timing and length"
_SERVING: Final = "Serving"
_TRUTH: Final = "Script and truth"
_SCENARIOS: Final = "Misbehaving"


@dataclass(frozen=True, kw_only=True, slots=True)
class MockSettings:
    """How a mock endpoint behaves; field by field an option of `loadgen mock`."""

    host: Annotated[str, Option(help="Address to listen on.", panel=_SERVING)] = "127.0.0.1"
    port: Annotated[
        int,
        Option(help="Port to listen on; 0 takes a free one.", panel=_SERVING),
    ] = 8000
    model: Annotated[
        list[str],
        Option(
            help="A known model name; repeatable; other names get a 404. Default: every name is known.",
            panel=_SERVING,
        ),
    ] = field(default_factory=list)
    api_key: Annotated[
        str | None,
        Option(
            envvar=("LOADGEN_MOCK_API_KEY",),
            help="Key that clients must send as `Authorization: Bearer …`; a 401 otherwise.",
            panel=_SERVING,
        ),
    ] = field(default=None, repr=False)
    tls_cert: Annotated[
        Path | None,
        Option(help="Certificate chain (PEM): serve HTTPS.", panel=_SERVING),
    ] = None
    tls_key: Annotated[
        Path | None,
        Option(
            help="The certificate's private key (PEM), if not in the certificate's file.",
            panel=_SERVING,
        ),
    ] = None
    exit_with_parent: Annotated[
        bool,
        Option(
            "--exit-with-parent",
            help="Exit when standard input ends, for example because the parent process died.",
            panel=_SERVING,
        ),
    ] = False
    fast: Annotated[
        bool,
        Option(
            "--fast",
            help="Serve with the fast engine: a thousand streams on one core, and a final report of "
            "the chunks' lateness. No TLS.",
            panel=_SERVING,
        ),
    ] = False
    scenario: Annotated[
        str | None,
        Option(
            help="Play this scenario to every request, or `chaos`, a mix of short answers and faults; "
            "other scenarios are below /NAME/v1. `loadgen list scenarios` lists all.",
            panel=_SCENARIOS,
        ),
    ] = None
    fault_share: Annotated[
        float,
        Option(help="With chaos: share of requests that meet a fault.", panel=_SCENARIOS),
    ] = 0.2
    ttft: Annotated[
        str,
        Option(
            help="Time to the first token: 50ms, uniform:10ms..90ms, normal:50ms,10ms (mean, deviation), "
            "lognormal:50ms,0.5 (median, sigma) or exponential:50ms (mean).",
            panel=_TIMING,
        ),
    ] = "50ms"
    itl: Annotated[
        str,
        Option(help="Time from one token to the next, written like --ttft.", panel=_TIMING),
    ] = "10ms"
    tokens: Annotated[
        str,
        Option(
            help="Reply length in tokens, written like --ttft without units: 64, uniform:16..128, …. A "
            "request's max_tokens cuts the reply.",
            panel=_TIMING,
        ),
    ] = "64"
    tokens_per_chunk: Annotated[
        int,
        Option(help="Tokens that one event of a stream carries.", panel=_TIMING),
    ] = 1
    role_chunk: Annotated[
        Literal["first", "early", "none"],
        Option(
            help="The role-only chunk of a chat stream: first (before the first token), early (with the "
            "headers), or none.",
            panel=_TIMING,
        ),
    ] = "first"
    count_eos: Annotated[
        bool,
        Option(
            "--count-eos",
            help="End replies with an end-of-sequence token, which usage counts and no chunk shows.",
            panel=_TIMING,
        ),
    ] = False
    hold_calls: Annotated[
        bool,
        Option(
            "--hold-calls",
            help="Send the tool calls of a scripted reply in one chunk with the last token, like a tool "
            "parser; each word is a token.",
            panel=_TIMING,
        ),
    ] = False
    slots: Annotated[
        int,
        Option(
            help="Requests served at once; the rest wait in order of arrival. 0: no limit.",
            panel=_TIMING,
        ),
    ] = 0
    cache: Annotated[
        bool,
        Option(
            "--cache",
            help="Answer repeated requests at once, as a cache of answers does.",
            panel=_TIMING,
        ),
    ] = False
    close: Annotated[
        bool,
        Option(
            "--close", help="Close each connection after its first response, unannounced.", panel=_SCENARIOS
        ),
    ] = False
    refuse: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="Refuse requests whose body has this member (422); repeatable.",
            panel=_SCENARIOS,
        ),
    ] = field(default_factory=list)
    stall: Annotated[
        str | None,
        Option(
            metavar="AT,FOR",
            help="Stall once: 2s,500ms stops the server for half a second, two seconds after the first "
            "completion request. Overdue chunks leave right after the stall.",
            panel=_TIMING,
        ),
    ] = None
    die_after: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="End so long after the first completion request, cutting off open streams.",
            panel=_SCENARIOS,
        ),
    ] = None
    fail_after: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="Answer requests with 502 so long after the first one, as a gateway without its server.",
            panel=_SCENARIOS,
        ),
    ] = None
    rate_limit: Annotated[
        str | None,
        Option(
            metavar="N/TIME",
            help="Answer completion requests beyond N within TIME (60/1m) with status 429 and Retry-After.",
            panel=_SCENARIOS,
        ),
    ] = None
    seed: Annotated[int, Option(help="Seeds every draw.", panel=_TIMING)] = 0
    replies: Annotated[
        Path | None,
        Option(
            help='JSONL file of scripted replies, such as {"match": "2+2", "reply": "4"} or {"status": 503}.',
            panel=_TRUTH,
        ),
    ] = None
    truth: Annotated[
        Path | None,
        Option(
            help="JSONL file that each request's true times go to, in ns of CLOCK_MONOTONIC; overwritten.",
            panel=_TRUTH,
        ),
    ] = None

    def options(self) -> MockOptions:
        """The options of the mock endpoint.

        Raises:
            MockOptionsError: A number is out of its range, or options do not go together.
        """
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return MockOptions(models=tuple(values.pop("model")), refuse=tuple(values.pop("refuse")), **values)
