"""Where requests go: the base URL, the headers that every request carries, and the bytes of a request."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.redaction import MASK, pattern_of, secrets_of, without_a_part
from loadgen.driver.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: Final = "application/json"
LITELLM: Final = "litellm:"
"""The URL of a provider's model that a LiteLLM of this program reaches."""

LITELLM_HOST: Final = "litellm.invalid"
"""The host until LiteLLM runs: a name that belongs to no machine (RFC 2606)."""

_PORTS: Final = {"http": 80, "https": 443, "grpc": 80, "grpcs": 443}
_VERSIONED: Final = re.compile(r"/v\d+\w*(/|$)")
_OPERATION: Final = re.compile(
    r"/((?:chat/)?completions|responses|messages|models|embeddings|rerank|audio/\w+|images/generations)$"
)
_VISIBLE: Final = re.compile(r"[!-~]*")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN_IN_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SECRET_NAME: Final = re.compile(
    r"(?i)key|token|secret|passw|auth|credential|session|signature|^(sig|pwd|code|jwt|sas)$"
)
_SECRET_VALUE: Final = re.compile(r"^(sk|pk|hf|gsk|xai)[-_]|^eyJ|(?i:bearer|basic)\s|[A-Za-z0-9+/_]{32}|@")
"""Members of a query that may be secrets: by their names, and by their values."""
_PUBLIC: Final = frozenset({"User-Agent", "anthropic-version"})
_LONGEST_MESSAGE: Final = 300

_OURS: Final = frozenset(
    {"host", "content-length", "transfer-encoding"}
    | {"accept", "accept-encoding", "content-type", "x-request-id"}
)


@dataclass(frozen=True)
class Endpoint:
    """A server's base URL, taken apart."""

    scheme: str  #: `http`, `https`, `grpc` or `grpcs`
    host: str
    port: int
    prefix: str  #: what stands before the operation in every path, e.g. `/v1`.
    headers: Mapping[str, str] = field(repr=False)  #: further headers; secrets live here and nowhere else
    verify: bool = True
    keep_alive: bool = True
    query: str = ""  #: the query of every request, e.g. `api-version=2024-02-01`; empty for none.

    @property
    def url(self) -> str:
        """The base URL with the query, fit for the log; `litellm:` as given."""
        if self.host == LITELLM_HOST:
            return LITELLM
        return urlunsplit((self.scheme, self._authority, self.prefix, self.query, ""))

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self._authority}"

    def place(self, path: str) -> str:
        """Return the path and query of an operation's requests."""
        query = f"{'&' if '?' in path else '?'}{self.query}" if self.query else ""
        return f"{self.prefix}{path}{query}"

    def http1(self, request: Request) -> bytes:
        """The bytes of a request in HTTP/1.1."""
        method, path, request_id, body, traceparent, headers, content_type = request
        start = f"{method} {self.place(path)} HTTP/1.1\r\n{self._fields}X-Request-Id: {request_id}\r\n"
        if traceparent:
            start += f"traceparent: {traceparent}\r\n"
        for name, value in headers:
            start += f"{name}: {value}\r\n"
        if not body:
            return f"{start}\r\n".encode("latin-1")
        content = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        return (start + content).encode("latin-1") + body

    @cached_property
    def _fields(self) -> str:
        """The header fields that all requests have in common."""
        fields = {
            "Host": self._authority,
            "Accept": "text/event-stream, application/json",
            # A compressed stream arrives when the compressor pleases, not when the model does.
            "Accept-Encoding": "identity",
            **self.headers,
            **self.connection_header,
        }
        return "".join(f"{name}: {value}\r\n" for name, value in fields.items())

    @property
    def connection_header(self) -> dict[str, str]:
        """The header that asks the server to close after a response; none for kept connections."""
        return {} if self.keep_alive else {"Connection": "close"}

    def redact(self, text: str) -> str:
        """Make a message that quotes a server fit for the log: without secrets, and short."""
        text = without_a_part(self.hide(text), self.secrets)
        return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"

    @property
    def has_secrets(self) -> bool:
        """Whether requests carry anything that must not be repeated."""
        return not self.headers.keys() <= _PUBLIC

    def hide(self, text: str) -> str:
        """Take every secret out of a text."""
        return self._pattern.sub(MASK, text)

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The secrets of the headers, which no message repeats."""
        return frozenset(secrets_of({k: v for k, v in self.headers.items() if k not in _PUBLIC}))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return pattern_of(self.secrets)

    @property
    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def endpoint(
    url: str,
    headers: Mapping[str, str],
    scheme: str = "http",
    *,
    verify: bool = True,
    rooted: bool = False,
    keep_alive: bool = True,
) -> Endpoint:
    """Parse a base URL: with or without scheme, `/v1`, a trailing slash or the operation.

    If `rooted`, the paths of requests begin at the root of the host, and the URL has no path. A header
    `Connection: close` wins over `keep_alive`. `scheme` is that of a URL without one.

    Raises:
        EndpointError: The URL or a header cannot be used; the message says which and why.
    """
    parts, host, port = _split(url.strip(), scheme)
    sent = {name: value for name, value in headers.items() if name.lower() != "connection"}
    for name, value in sent.items():
        _check_header(name, value)
    keep_alive = keep_alive and not any(_closes(headers[name]) for name in headers.keys() - sent.keys())
    if rooted:
        prefix = ""
        if parts.path.rstrip("/"):
            raise EndpointError(f"--url {url.strip()}: leave {parts.path} out; --path says where requests go")
    else:
        prefix, named = _OPERATION.subn("", parts.path.rstrip("/"))
        if not named and not _VERSIONED.search(prefix):
            prefix += "/v1"
    return Endpoint(parts.scheme, host, port, prefix, sent, verify, keep_alive, parts.query)


def _split(url: str, scheme: str) -> tuple[SplitResult, str, int]:
    """Split a URL; secrets are checked first, so that no message repeats one."""
    if "@" in url:
        raise EndpointError("--url: leave user and password out; send secrets with --api-key or --header")
    for member in re.split("[&;]", url.partition("?")[2].partition("#")[0]):
        name, _, value = member.partition("=")
        if _SECRET_NAME.search(unquote(name)) or _SECRET_VALUE.search(unquote(value)):
            raise EndpointError(
                "--url: the query seems to hold a secret; send secrets with --api-key or --header"
            )
    if not _VISIBLE.fullmatch(url):
        raise EndpointError(f"--url {url!r}: only visible ASCII can be in a URL; percent-encode the rest")
    try:
        parts = urlsplit(url if "://" in url else f"{scheme}://{url}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise EndpointError(f"--url {url}: {error}; write {scheme}://HOST:PORT, IPv6 in brackets") from error
    if parts.scheme not in (scheme, f"{scheme}s"):
        raise EndpointError(f"--url {url}: the scheme is {parts.scheme!r}; use {scheme}:// or {scheme}s://")
    if not host:
        raise EndpointError(
            f"--url {url}: there is no host in it; write for instance {scheme}://127.0.0.1:8000"
        )
    return parts, host, _PORTS[parts.scheme] if port is None else port


def _closes(value: str) -> bool:
    """Whether a header `Connection` has connections closed; only that, and the default, can be asked for."""
    if (wish := value.strip().lower()) in ("close", "keep-alive"):
        return wish == "close"
    raise EndpointError("--header Connection: only close and keep-alive can be sent")


def check_session_header(name: str) -> None:
    """Refuse a name that cannot be a separate header."""
    if not _TOKEN.fullmatch(name) or name.lower() in _OURS:
        raise EndpointError(f"--session-header {name!r}: give the name of a header, such as X-Session-ID")


def _check_header(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name):
        raise EndpointError(f"--header {name!r}: not the name of an HTTP header")
    if name.lower() in _OURS:
        raise EndpointError(f"--header {name}: set by the client itself")
    if _FORBIDDEN_IN_VALUE.search(value) or not value.isascii():
        raise EndpointError(f"--header {name}: the value has a character that a header cannot carry")


class Request(NamedTuple):
    """The content of one request."""

    method: str
    path: str
    request_id: str
    body: bytes = b""  #: JSON; empty for none
    traceparent: str = ""  #: travels as `traceparent`; empty for none
    headers: tuple[tuple[str, str], ...] = ()  #: further headers of this request alone
    content_type: str = JSON

    def resent(self) -> Request:
        """Return the request for sending again over another connection."""
        return self._replace(request_id=resent_id(self.request_id))


def attempt_id(sample_uuid: str, attempt: int) -> str:
    """Return the id of an attempt, from 1: servers refuse, or mix up, requests with equal ids."""
    return sample_uuid if attempt == 1 else f"{sample_uuid}-{attempt}"


def resent_id(request_id: str) -> str:
    """Return the id of a request for sending again over another connection."""
    return f"{request_id}-resent"
