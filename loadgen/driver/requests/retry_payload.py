"""The payload of an attempt that failed, and is followed by another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.client.exchange import Exchange


def retry_payload(
    exchange: Exchange, attempt: int, named: Mapping[str, str], wait_s: float
) -> dict[str, Any]:
    """The facts of an attempt that failed, by a name, and is followed by another one."""
    status = exchange.response.status if exchange.response else None
    stated = {"status": status, "retry_after_s": exchange.retry_after_s, "wait_ms": round(wait_s * 1e3, 3)}
    moments = {"sent_ns": exchange.sent_ns, "first_byte_ns": exchange.first_byte_ns}
    return {"attempt": attempt, **named, **stated, **moments}
