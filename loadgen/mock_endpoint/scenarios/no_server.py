"""No connection: no listener, no such name, no answering host, or a certificate that is not trusted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, OPENAI
from loadgen.mock_endpoint.scenarios.scenario import Scenario
from loadgen.mock_endpoint.scenarios.steps import ScenarioScript

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect

_CONNECT: Final = Timeouts(timeout_s=20.0, connect_timeout_s=0.3)
_VERIFIED: Final = "verified unless --insecure"


def _no_request(_: Dialect) -> ScenarioScript:
    """No request ever comes."""
    return ScenarioScript((), counted=False)


_unmet: Final = partial(Scenario, script=_no_request, protocols=OPENAI, requests=2, fast=False)

NOBODY: Final = (
    _unmet(
        name="refused",
        about="no process listens on the port",
        protocols=ALL,
        sees=("refused",),
        place="closed_port",
    ),
    _unmet(
        name="no_host",
        about="the host's name has no address",
        # A resolver that gets no answer itself may take longer than connecting may.
        sees=("dns", "connect_timeout"),
        place="no_host",
    ),
    _unmet(
        name="no_connection",
        about="the server's queue is full: no answer to a SYN",
        right="ends after --connect-timeout",
        sees=("connect_timeout",),
        timeouts=_CONNECT,
        place="full_queue",
    ),
    _unmet(
        name="tls_self_signed",
        about="a certificate that no authority has signed",
        right=_VERIFIED,
        sees=("tls",),
        place="tls_self_signed",
    ),
    _unmet(
        name="tls_expired",
        about="a certificate that has expired",
        right=_VERIFIED,
        sees=("tls",),
        place="tls_expired",
    ),
    _unmet(
        name="tls_plain",
        about="plain HTTP where TLS was asked for",
        sees=("tls",),
        place="plain_for_tls",
    ),
)
