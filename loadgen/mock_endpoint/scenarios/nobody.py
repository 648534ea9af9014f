"""No connection: nobody listens, nobody is of that name, nobody answers, or nobody can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios.scenario import ALL, OPENAI, Scenario
from loadgen.mock_endpoint.scenarios.steps import Script

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialects.dialect import Dialect

_CONNECT: Final = Timeouts(total_s=20.0, connect_s=0.3)


def _nobody(_: Dialect) -> Script:
    """No request ever comes."""
    return Script((), counted=False)


NOBODY: Final = (
    Scenario(
        name="refused",
        about="nobody listens on the port",
        script=_nobody,
        protocols=ALL,
        sees=("refused",),
        requests=2,
        fast=False,
        place="closed_port",
    ),
    Scenario(
        name="no_host",
        about="the host's name has no address",
        script=_nobody,
        protocols=OPENAI,
        sees=("dns",),
        requests=2,
        fast=False,
        place="no_host",
    ),
    Scenario(
        name="no_connection",
        about="the server's queue is full: no answer to a SYN",
        right="ends after --connect-timeout",
        script=_nobody,
        protocols=OPENAI,
        sees=("connect_timeout",),
        requests=2,
        fast=False,
        timeouts=_CONNECT,
        place="full_queue",
    ),
    Scenario(
        name="tls_self_signed",
        about="a certificate that nobody vouches for",
        right="verified unless --insecure",
        script=_nobody,
        protocols=OPENAI,
        sees=("tls",),
        requests=2,
        fast=False,
        place="tls_self_signed",
    ),
    Scenario(
        name="tls_expired",
        about="a certificate that has expired",
        right="verified unless --insecure",
        script=_nobody,
        protocols=OPENAI,
        sees=("tls",),
        requests=2,
        fast=False,
        place="tls_expired",
    ),
    Scenario(
        name="tls_plain",
        about="plain HTTP where TLS was asked for",
        script=_nobody,
        protocols=OPENAI,
        sees=("tls",),
        requests=2,
        fast=False,
        place="plain_for_tls",
    ),
)
