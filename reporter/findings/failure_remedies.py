"""What to do about requests that failed, by how they failed and what was said."""

from __future__ import annotations

import re
from typing import Final

_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size)|maximum (?:model|sequence) length|max_model_len|too many tokens",
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


def failure_remedy(name: str, message: str) -> str | None:
    """What to do about a failure; None where nothing more is known than that it failed.

    Args:
        name: Of the failure, as the log has it.
        message: What was said about one of them.
    """
    if name in {"http_400", "http_413", "http_422", "error_frame"} and _CONTEXT.search(message):
        return (
            "Prompt and answer do not fit the model's context. Use shorter prompts, a smaller "
            "--max-tokens, or a longer context."
        )
    if _WEB_PAGE in message:
        return "A web page answers at --url: check that --url is the URL of the API, not of a proxy."
    return _BY_NAME.get(name)
