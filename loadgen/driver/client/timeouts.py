"""How long each part of a request may take. Seconds; None for no limit but that of the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each part of a request may take.

    Attributes:
        total_s: From the request's issue to the end of its response, all attempts and waits included.
        connect_s: For looking the host up and both handshakes together (`time_limit`).
        first_byte_s: From the request's last byte to the response's first.
        idle_s: Between two reads of a response.
        named: The option that sets `total_s`, for messages.
    """

    total_s: float = 600.0
    connect_s: float = 10.0
    first_byte_s: float | None = None
    idle_s: float | None = None
    named: str = "--timeout"

    @property
    def too_late(self) -> str:
        """What is said about a request whose time is over."""
        return f"no complete response within {self.total_s:g} s ({self.named})"

    def unconnected(self, where: str) -> str:
        """What is said when there is no connection in time; `where`: to host and port."""
        return f"no connection to {where} within {self.connect_s:g} s (--connect-timeout)"

    def within(self, total_s: float) -> Timeouts:
        """The same, but as a whole no more than this."""
        return replace(self, total_s=min(total_s, self.total_s))

    def by_option(self) -> Mapping[str, float | None]:
        """Each by the name of the option that sets it."""
        return {
            "--timeout": self.total_s,
            "--connect-timeout": self.connect_s,
            "--first-byte-timeout": self.first_byte_s,
            "--idle-timeout": self.idle_s,
        }
