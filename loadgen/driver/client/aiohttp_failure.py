"""aiohttp's errors as this program's failures."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import aiohttp

from loadgen.driver.client.dialing import no_address, refused
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.tls import explained
from loadgen.driver.errors import HeadTooLargeError, RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.client.observed_socket import Passage
    from loadgen.driver.client.timeouts import Timeouts


def failure_of(
    error: Exception, endpoint: Endpoint, passage: Passage, timeouts: Timeouts
) -> RequestFailedError:
    """The failure for an error of aiohttp."""
    where = f"{endpoint.host}:{endpoint.port}"
    match error:
        case aiohttp.ClientConnectorError():
            return _unconnected(error, encrypted=endpoint.scheme == "https")
        case aiohttp.ConnectionTimeoutError():
            return RequestFailedError(Failure.CONNECT_TIMEOUT, timeouts.unconnected(where))
        case aiohttp.ClientHttpProxyError():
            message = f"no connection to {where} (the proxy says {error.status} {error.message})"
            return RequestFailedError(Failure.REFUSED, message)
        case aiohttp.ClientResponseError():
            return malformed(error.message)
        case aiohttp.InvalidURL() | UnicodeError():
            return _unknown(endpoint.host, error)
    # Over TLS what came first may have been no response; then it is known only of an orderly end.
    partly = isinstance(error, aiohttp.ServerDisconnectedError) and not isinstance(error.message, str)
    began = passage.head or partly or (endpoint.scheme == "http" and passage.first_ns > 0)
    return cut(passage.broken, began=began)


def _unconnected(error: aiohttp.ClientConnectorError, *, encrypted: bool) -> RequestFailedError:
    where, cause = f"{error.host}:{error.port}", error.os_error
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _unknown(error.host, cause)
    hung_up = isinstance(cause, ConnectionError) and not isinstance(cause, ConnectionRefusedError)
    if isinstance(cause, ssl.SSLError) or (hung_up and encrypted):
        return RequestFailedError(Failure.TLS, f"no TLS with {where}: {explained(cause)}")
    return refused(cause, where)


def cut(why: OSError | None, *, began: bool) -> RequestFailedError:
    """The end of a connection, before a response or in the middle of one."""
    if isinstance(why, HeadTooLargeError):
        return RequestFailedError(Failure.TOO_LARGE, str(why))
    name, when = (Failure.TRUNCATED, "in the middle of the") if began else (Failure.RESET, "before a")
    because = f" ({why})" if why is not None else ""
    return RequestFailedError(name, f"the connection ended {when} response{because}")


def malformed(why: str) -> RequestFailedError:
    """The failure of a response that is not HTTP."""
    return RequestFailedError(
        Failure.MALFORMED_FRAME, "the response is not HTTP/1.1: " + " ".join(why.split())
    )


def _unknown(host: str, why: Exception) -> RequestFailedError:
    return RequestFailedError(Failure.DNS, no_address(host, why))
