"""Findings about connections that the server closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import counted
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs

_FEWEST: Final = 20
"""Requests, from which on a pattern is one."""

_USED_AGAIN: Final = 0.1
"""The share of connections that a server which keeps them lets be used again, at least."""


def _stale_connections(evidence: CheckInputs) -> Finding | None:
    retried = evidence.counts.retried
    if not retried:
        return None
    return Finding(
        "stale_connections",
        "info",
        f"{counted(retried, 'request')} found a kept connection closed and took a new one; latencies "
        "start at the second attempt.",
        "Raise the server's keep-alive timeout, or use one connection per request: --connection new.",
    )


def _connections_closed(evidence: CheckInputs) -> Finding | None:
    needed, reused = evidence.reusable, evidence.counts.reused
    if needed < _FEWEST or reused > _USED_AGAIN * needed:
        return None
    return Finding(
        "connections_closed",
        "info",
        f"The server closes its connection after each response: {reused} of {needed} requests reused "
        "a connection.",
        "Enable keep-alive in the server, or use one connection per request: --connection new.",
    )


CHECKS: Final[tuple[Check, ...]] = (_stale_connections, _connections_closed)
