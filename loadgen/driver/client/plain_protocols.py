"""The turn and the connection of a plain request, and the turns that leave where the request ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from loadgen.driver.client.endpoint import Request


class PlainTurn(Protocol):
    """The turn of a plain request."""

    @property
    def request(self) -> Request:
        """The request."""

    @property
    def sent_members(self) -> str:
        """JSON members of the event of the sending on a connection that is open."""


class Carrier(Protocol):
    """The connection of a plain request."""

    def relayed(self) -> tuple[int, int, int]:
        """The ticket of the request that the relay has sent, when issued and when sent; zeros for none."""

    def resume(self) -> None:
        """Have Python follow the rest of the request."""


class NextTurns(Protocol):
    """The turns that compiled code issues where plain requests end (`loadgen.driver.requests.relay`)."""

    def sent(self) -> None:
        """Learn that Python has sent a plain request, where prepared turns can leave at the end."""

    def take(self, fields: tuple[Any, ...]) -> None:
        """Count turns that have left where others ended (`_relay.c`)."""

    def turn(self, ticket: int) -> PlainTurn:
        """Return the turn of a ticket, which Python follows from now on."""
