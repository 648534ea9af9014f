"""What is tried: a scenario, in a protocol, over a transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cli.errors import UsageError
from loadgen.mock_endpoint.scenarios.catalog import DIALECTS, SCENARIOS
from loadgen.mock_endpoint.scenarios.expectation import expectation
from loadgen.mock_endpoint.scenarios.scenario import OPENAI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.expectation import Expectation
    from loadgen.mock_endpoint.scenarios.scenario import Scenario

_MOST: Final = 6
_MOST_ELSEWHERE: Final = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario, in a protocol, over a transport."""

    scenario: Scenario
    protocol: str
    transport: str

    @property
    def requests(self) -> int:
        """How many are asked: what goes below the protocol is tried enough with OpenAI's."""
        return min(self.scenario.requests, _MOST if self.protocol in OPENAI else _MOST_ELSEWHERE)

    @property
    def expected(self) -> Expectation:
        """What the client must have seen."""
        return expectation(self.scenario, DIALECTS[self.protocol])

    def __str__(self) -> str:
        return f"{self.scenario.name}, {self.protocol}, {self.transport}"


def rows(names: Sequence[str], protocols: Sequence[str], transports: Sequence[str]) -> list[Row]:
    """What is to be tried.

    Args:
        names: Of scenarios; none for all.
        protocols: Those of which a scenario is tried where it exists for it.
        transports: Likewise.

    Raises:
        UsageError: There is no such scenario, or nothing is left.
    """
    for name in names:
        if name not in SCENARIOS:
            raise UsageError(f"--only {name}: no such scenario; `loadgen list scenarios` has all of them")
    found = [
        Row(scenario, protocol, transport)
        for scenario in SCENARIOS.values()
        if not names or scenario.name in names
        for protocol in protocols
        if protocol in scenario.protocols
        for transport in transports
    ]
    if not found:
        raise UsageError(f"{', '.join(names)}: not for {', '.join(protocols)}; choose another --protocol")
    return found
