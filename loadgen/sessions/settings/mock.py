"""The options of `loadgen mock`."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from lazy_dataclasses import dataclass, fields
from loadgen.mock_endpoint.options import MockOptions
from loadgen.mock_endpoint.request_statements import FORMS
from loadgen.sessions.settings.option import Panel

_TIMING: Final = Panel("Timing and length")
_SERVING: Final = Panel("Serving")
_TRUTH: Final = Panel("Script and truth")
_SCENARIOS: Final = Panel("Misbehaving")


@dataclass(frozen=True, kw_only=True, slots=True)
class MockSettings:
    """How a mock endpoint behaves; field by field an option of `loadgen mock`."""

    host: str = _SERVING.option("Address to listen on.", "127.0.0.1")
    port: int = _SERVING.option("Port to listen on; 0 takes a free one.", 8000)
    model: list[str] = _SERVING.option(
        "A known model name; repeatable; other names get a 404. Default: every name is known.", []
    )
    api_key: str | None = _SERVING.option(
        "Key that clients must send as `Authorization: Bearer …`; a 401 otherwise.",
        envvar=("LOADGEN_MOCK_API_KEY",),
        secret=True,
    )
    tls_cert: Path | None = _SERVING.option("Certificate chain (PEM): serve HTTPS.")
    tls_key: Path | None = _SERVING.option(
        "The certificate's private key (PEM), if not in the certificate's file."
    )
    exit_with_parent: bool = _SERVING.switch(
        "Exit when standard input ends, for example because the parent process died."
    )
    scenario: str | None = _SCENARIOS.option(
        "Play this scenario to every request, or `chaos`, a mix of short answers and faults; other "
        "scenarios are below /NAME/v1. `loadgen list scenarios` lists all."
    )
    fault_share: float = _SCENARIOS.option("With chaos: share of requests that meet a fault.", 0.2)
    ttft: str = _TIMING.option(
        "Time to the first token: 50ms, uniform:10ms..90ms, normal:50ms,10ms (mean, deviation), "
        "lognormal:50ms,0.5 (median, sigma) or exponential:50ms (mean).",
        "50ms",
    )
    itl: str = _TIMING.option("Time from one token to the next, written like --ttft.", "10ms")
    tokens: str = _TIMING.option(
        "Reply length in tokens, written like --ttft without units: 64, uniform:16..128, …. A request's "
        "max_tokens cuts the reply.",
        "64",
    )
    tokens_per_chunk: int = _TIMING.option("Tokens that one event of a stream carries.", 1)
    role_chunk: Literal["first", "early", "none"] = _TIMING.option(
        "The role-only chunk of a chat stream: first (before the first token), early (with the headers), "
        "or none.",
        "first",
    )
    count_eos: bool = _TIMING.switch(
        "End replies with an end-of-sequence token, which usage counts and no chunk shows."
    )
    hold_calls: bool = _TIMING.switch(
        "Send the tool calls of a scripted reply in one chunk with the last token, like a tool parser; "
        "each word is a token."
    )
    overrun: str | None = _SCENARIOS.option(
        "Go on generating for this time after a client has left, and count the tokens in /metrics.",
        metavar="TIME",
    )
    speculate: str | None = _TIMING.option(
        "Decode speculatively: 4:3,1,0,2 drafts four tokens a step, of which the steps accept 3, 1, 0 and 2 "
        "in turn. A step takes one --itl, and is one event.",
        metavar="DRAFTED:ACCEPTED,…",
    )
    statements: list[str] = _TRUTH.option(
        "State the server's times and drafts in each response, in this form; repeatable: "
        f"{', '.join(FORMS)}.",
        [],
        metavar="FORM",
    )
    slots: int = _TIMING.option("Requests served at once; the rest wait in order of arrival. 0: no limit.", 0)
    cache: bool = _TIMING.switch("Answer repeated requests at once, as a cache of answers does.")
    cache_blocks: int | None = _TIMING.option(
        "A prefix cache of this many blocks; the least recently used goes first. 0: no limit. "
        "Default: no prefix cache."
    )
    block_tokens: int = _TIMING.option("Tokens of a block of the prefix cache.", 16)
    prefill: str = _TIMING.option(
        "Time for each prompt token that no cache has, added to --ttft and written like it.", "0"
    )
    slowdown: str | None = _TIMING.option(
        "Time that each other request in service adds to --itl, as of the moment an answer is planned.",
        metavar="TIME",
    )
    close: bool = _SCENARIOS.switch("Close each connection after its first response, unannounced.")
    refuse: list[str] = _SCENARIOS.option(
        "Refuse requests whose body has this member (422); repeatable.", [], metavar="NAME"
    )
    stall: str | None = _TIMING.option(
        "Stall once: 2s,500ms stops the server for half a second, two seconds after the first completion "
        "request. Overdue chunks leave right after the stall.",
        metavar="AT,FOR",
    )
    die_after: str | None = _SCENARIOS.option(
        "End so long after the first completion request, cutting off open streams.", metavar="TIME"
    )
    fail_after: str | None = _SCENARIOS.option(
        "Answer requests with 502 so long after the first one, as a gateway without its server.",
        metavar="TIME",
    )
    rate_limit: str | None = _SCENARIOS.option(
        "Answer completion requests beyond N within TIME (60/1m) with status 429 and Retry-After.",
        metavar="N/TIME",
    )
    result_fault: Literal["nan", "missing", "dimension", "characters"] | None = _SCENARIOS.option(
        "A fault of each response: the last result not a number, missing, or of another dimension; "
        "or usage counts characters."
    )
    seed: int = _TIMING.option("Seeds every draw.", 0)
    replies: Path | None = _TRUTH.option(
        'JSONL file of scripted replies, such as {"match": "2+2", "reply": "4"} or {"status": 503}.'
    )
    truth: Path | None = _TRUTH.option(
        "JSONL file that each request's true times go to, in ns of CLOCK_MONOTONIC; overwritten."
    )

    def options(self) -> MockOptions:
        """The options of the mock endpoint."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        models, refuse, forms = (tuple(values.pop(name)) for name in ("model", "refuse", "statements"))
        return MockOptions(models=models, refuse=refuse, statements=forms, **values)
