"""Which of several endpoints a request goes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol

BALANCES: Final = ("round-robin", "least-in-flight")

if TYPE_CHECKING:
    BalanceName = str
else:
    BalanceName = Literal[BALANCES]


class Balance(Protocol):
    """Chooses endpoints, informed of the requests in flight."""

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""

    def began(self, endpoint: int) -> None:
        """Note a request in flight to an endpoint."""

    def ended(self, endpoint: int) -> None:
        """Note the end of a request."""


class RoundRobin:
    """Round robin by request number: independent of the number of workers.

    Args:
        endpoints: How many there are.
    """

    def __init__(self, endpoints: int) -> None:
        self._endpoints = endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        return request % self._endpoints

    def began(self, endpoint: int) -> None:
        """Does nothing: the order needs no counts."""

    def ended(self, endpoint: int) -> None:
        """Does nothing: the order needs no counts."""


class LeastInFlight:
    """Where the fewest requests of this worker are under way; of several such endpoints the next in turn.

    Args:
        endpoints: How many there are.
    """

    def __init__(self, endpoints: int) -> None:
        self._in_flight = [0] * endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        in_flight = self._in_flight
        endpoints = len(in_flight)
        return min(
            range(endpoints), key=lambda endpoint: (in_flight[endpoint], (endpoint - request) % endpoints)
        )

    def began(self, endpoint: int) -> None:
        """Note a request in flight to an endpoint."""
        self._in_flight[endpoint] += 1

    def ended(self, endpoint: int) -> None:
        """Note the end of a request."""
        self._in_flight[endpoint] -= 1


def balance_of(name: str, endpoints: int) -> Balance:
    """The balance of a name.

    Args:
        name: One of `BALANCES`.
        endpoints: How many there are.
    """
    return LeastInFlight(endpoints) if name == "least-in-flight" else RoundRobin(endpoints)
