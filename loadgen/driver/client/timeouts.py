"""How long each part of a request may take. Seconds; None for no limit but that of the whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each part of a request may take.

    Attributes:
        timeout_s: From the request's issue to the end of its response, all attempts and waits included.
        connect_timeout_s: For looking the host up and both handshakes together (`time_limit`).
        first_byte_timeout_s: From the request's last byte to the response's first.
        idle_timeout_s: Between two reads of a response.
        named: The option that sets `timeout_s`, for messages.
    """

    timeout_s: float = 600.0
    connect_timeout_s: float = 10.0
    first_byte_timeout_s: float | None = None
    idle_timeout_s: float | None = None
    named: str = "--timeout"

    @property
    def too_late(self) -> str:
        """What is said about a request whose time is over."""
        return f"no complete response within {self.timeout_s:g} s ({self.named})"

    def unconnected(self, where: str) -> str:
        """What is said when there is no connection in time; `where`: to host and port."""
        return f"no connection to {where} within {self.connect_timeout_s:g} s (--connect-timeout)"

    def within(self, timeout_s: float) -> Timeouts:
        """The same, but as a whole no more than this."""
        return replace(self, timeout_s=min(timeout_s, self.timeout_s))

    def settings(self) -> Mapping[str, float | None]:
        """The timeouts for the log, by the names that it has for them."""
        return {name: value for name, value in asdict(self).items() if name != "named"}

    def by_option(self) -> Mapping[str, float | None]:
        """Each by the name of the option that sets it."""
        return {
            f"--{name.removesuffix('_s').replace('_', '-')}": value for name, value in self.settings().items()
        }
