"""What the server knows of a request for which it played a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field

from loadgen.mock_endpoint.truth import Truth


@dataclass(slots=True, eq=False)
class PlayedTruth(Truth):
    """What the server knows of a request for which it played a scenario.

    The times before a write are those of the write that completed an event.

    Attributes:
        scenario: Its name.
        expect: What the client must have seen: `completed`, or the name of a failure; several where either
            is right.
    """

    scenario: str = ""
    expect: list[str] = field(default_factory=list)
