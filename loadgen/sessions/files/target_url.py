"""The URL that an export sends to."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from loadgen.sessions.errors import UsageError

AUTHORIZATION: Final = "LOADGEN_PUSH_AUTHORIZATION"
"""The environment variable with the header `Authorization` of a push."""


def gateway_url(url: str) -> str:
    """A Pushgateway's URL, checked."""
    return base_url("--push-gateway", url, f"the header Authorization goes into {AUTHORIZATION}")


def base_url(option: str, url: str, secrets: str) -> str:
    """Check a URL; no message repeats a possible secret."""
    if "@" in url or "?" in url:
        raise UsageError(f"{option}: leave user, password and query out of the URL; {secrets}")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"{option} {url}: not a URL; write for instance http://localhost:4318")
    return url.rstrip("/")
