"""Which endpoint gets a request."""

from __future__ import annotations


class Balance:
    """Chooses endpoints round robin, by request number: independent of the number of workers."""

    def __init__(self, endpoints: int) -> None:
        self._endpoints = endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        return request % self._endpoints

    def began(self, endpoint: int) -> None:
        """Note a request in flight to an endpoint."""

    def ended(self, endpoint: int) -> None:
        """Note the end of a request."""


class LeastInFlight(Balance):
    """Where the fewest requests of this worker are under way; of several such endpoints the next in turn."""

    def __init__(self, endpoints: int) -> None:
        super().__init__(endpoints)
        self._in_flight = [0] * endpoints

    def choose(self, request: int) -> int:
        """The endpoint of a request, by number in the phase."""
        in_flight, endpoints = self._in_flight, self._endpoints
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
    """The balance of a name."""
    return LeastInFlight(endpoints) if name == "least-in-flight" else Balance(endpoints)
