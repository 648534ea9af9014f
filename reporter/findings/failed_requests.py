"""Failed requests: how many are too many, and whether the endpoint went away or limited the rate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.findings.check_inputs import MANY_FAILURES, listed
from reporter.findings.client_limits import OWN_FAILURES
from reporter.number_text import percent, seconds
from reporter.report import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.findings.check_inputs import CheckInputs

SOME_FAILURES: Final = 0.01
"""The share from which on failures are a warning."""

_LIMITED: Final = ("http_429", "http_529")

_EXCERPT: Final = 160
_ALL_FAILURES: Final = (
    "All of them: SELECT error, error_message, count(*) FROM samples WHERE error <> '' GROUP BY ALL."
)


def some_failed(evidence: CheckInputs) -> Finding | None:
    """The finding on failed requests, if some failed and others completed."""
    counts = evidence.counts
    if not counts.failed or not counts.completed:
        return None
    ended = counts.completed + counts.failed + counts.cancelled
    share = counts.failed / ended
    code, cause = _cause(evidence)
    # What the client failed itself, and what ended the run, are errors already.
    theirs = counts.failed - sum(n for name, n in counts.by_error.items() if name in OWN_FAILURES)
    spent = any(finding.code == "error_budget" for finding in evidence.logged)
    # Failures of an imported run are a harness's results, which it has scored.
    invalid = theirs > evidence.failure_limit * ended and not spent and not evidence.imported
    grave = share >= SOME_FAILURES or code != "requests_failed"
    remedies = [remedy(evidence), _ALL_FAILURES]
    if invalid:
        remedies.insert(
            1,
            f"A run with more than {100 * evidence.failure_limit:.0f} % failures is invalid; "
            "--max-error-rate sets the limit.",
        )
    return Finding(
        code,
        "error" if invalid else "warning" if grave else "info",
        f"{cause}{counts.failed:,} of {ended:,} requests failed ({percent(share, 1)}): "
        f"{classes(counts.by_error)}. Failed requests are excluded from latency and throughput."
        f"{for_example(evidence)}",
        " ".join(filter(None, remedies)),
    )


def _cause(evidence: CheckInputs) -> tuple[str, str]:
    """The code of the finding, and a sentence on the cause where the failures have a common one."""
    counts, gone = evidence.counts, evidence.went_away
    ended = counts.completed + counts.failed + counts.cancelled
    if gone is not None:
        return "endpoint_gone", f"The endpoint went away after {seconds(gone.after_s)}. "
    limited = {name: n for name in _LIMITED if (n := counts.by_error.get(name, 0))}
    if sum(limited.values()) > counts.failed / 2:
        name, requests = max(limited, key=limited.__getitem__), sum(limited.values())
        answered = f"{requests:,} of {ended:,} requests were answered {name.removeprefix('http_')}"
        return "rate_limited", f"The endpoint limited the rate: {answered}. "
    return "many_failures" if counts.failed > MANY_FAILURES * ended else "requests_failed", ""


def for_example(evidence: CheckInputs) -> str:
    """The message of the most frequent failure, as a sentence; empty without one."""
    name = next(iter(evidence.counts.by_error), None)
    message = evidence.messages.get(name or "", "")
    return f" For example, {name}: {message[:_EXCERPT]}" if message else ""


def remedy(evidence: CheckInputs) -> str | None:
    """The remedy of the most frequent failure, where one is known."""
    name = next(iter(evidence.counts.by_error), None)
    return name and failure_remedy(name, evidence.messages.get(name, ""))


def classes(by_error: Mapping[str, int], shown: int = 3) -> str:
    """The biggest classes of failures, the others together."""
    ranked = sorted(by_error.items(), key=lambda item: (-item[1], item[0]))
    others = sum(n for _, n in ranked[shown:])
    return listed({**dict(ranked[:shown]), **({"others": others} if others else {})})


_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:model|sequence) length|maximum context|max_model_len"
    r"|too many tokens|prompt is too long",
    re.IGNORECASE,
)
"""How servers name a prompt that is too long: vLLM, SGLang, TGI, OpenAI and Anthropic."""

_WEB_PAGE: Final = "a web page"

_BY_NAME: Final = {
    "http_401": "Give a key that the server accepts, with --api-key or in LOADGEN_API_KEY.",
    "http_403": "Give a key that may use the model, with --api-key or in LOADGEN_API_KEY.",
    "http_404": "`loadgen check` shows whether the model name and the path of --protocol are right.",
    "http_429": "The server limits the rate: lower the load, raise its limit, or repeat with --retry N.",
    "http_503": "The server refuses load: see its log, lower the load, or repeat with --retry N.",
    "refused": "Check that the server is up and listens at --url.",
    "dns": "Check the host in --url.",
    "tls": "Check the scheme in --url, and that this machine trusts the server's certificate.",
    "connect_timeout": "Check that the server is up, or give a longer --connect-timeout.",
    "total_timeout": "Lower the load, or give a longer --timeout.",
    "first_byte_timeout": "Lower the load, or give a longer --first-byte-timeout.",
    "idle_timeout": "Check the server's log for a stall, or give a longer --idle-timeout.",
    "unasked_response": "Check the logs of the server and of its proxy for responses sent twice.",
    "aborted": "Check the server's log: the server was stopped, ran out of memory, or refused load.",
    "empty_answer": (
        "Check the prompts, the model's chat template and --max-tokens; --ignore-eos continues such answers."
    ),
    "agent_error": 'Fix the agent: `loadgen sql RUN "SELECT reason FROM episodes"` says what failed.',
    "client_limit": "Raise `ulimit -n`, or lower the load.",
}


def is_context_overflow(name: str, message: str) -> bool:
    """Whether a request failed because its prompt and answer do not fit the model's context."""
    return name in {"http_400", "http_413", "http_422", "error_frame"} and bool(_CONTEXT.search(message))


def failure_remedy(name: str, message: str) -> str | None:
    """The remedy of a failure; None for a failure without known cause."""
    if is_context_overflow(name, message):
        return (
            "Prompt and answer do not fit the model's context. Use shorter prompts, a smaller "
            "--max-tokens, or a longer context."
        )
    if _WEB_PAGE in message:
        return "A web page answers at --url: check that --url is the URL of the API, not of a proxy."
    return _BY_NAME.get(name)
