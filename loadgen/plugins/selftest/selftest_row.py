"""A row of the self-test: a scenario, in a protocol, over a transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.scenarios.expectation import expectation
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS, OPENAI
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED
from loadgen.sessions.errors import UsageError
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.scenarios.expectation import Expectation
    from loadgen.mock_endpoint.scenarios.scenario import Scenario

_MOST_OPENAI: Final = 6
_MOST_ELSEWHERE: Final = 3
_OF_A_FAILURE: Final = 2


@dataclass(frozen=True, slots=True)
class ConformanceRow:
    """A scenario, in a protocol, over a transport."""

    scenario: Scenario
    protocol: str
    transport: str

    @property
    def requests(self) -> int:
        """The number of requests: fewer where OpenAI's protocol already covers the layers below."""
        limit = _MOST_OPENAI if self.protocol in OPENAI else _MOST_ELSEWHERE
        usual = limit if COMPLETED in self.scenario.sees else _OF_A_FAILURE
        return min(self.scenario.requests or usual, limit)

    @property
    def expected(self) -> Expectation:
        """The expected facts in the client's log."""
        return expectation(self.scenario, DIALECTS[self.protocol])

    def __str__(self) -> str:
        return f"{self.scenario.name}, {self.protocol}, {self.transport}"


def rows(
    names: Sequence[str], protocols: Sequence[str] | None, transports: Sequence[str]
) -> list[ConformanceRow]:
    """The rows to try.

    Args:
        names: Of scenarios; none for all but those whose second response only `make chaos`, which knows
            when it came, can tell from the right one.
        protocols: Those of which a scenario is tried where it exists for it; None for all.
        transports: As above.

    Raises:
        UsageError: A scenario or a protocol does not exist, or nothing is left.
    """
    protocols = protocols or tuple(DIALECTS)
    for protocol in protocols:
        if protocol not in DIALECTS:
            raise UsageError(
                f"--protocol {protocol}: no scenarios in this protocol{did_you_mean(protocol, DIALECTS)}; "
                f"choose from {', '.join(DIALECTS)}"
            )
    for name in names:
        if name not in SCENARIOS:
            raise UsageError(
                f"--only {name}: no such scenario{did_you_mean(name, SCENARIOS)}; "
                "`loadgen list scenarios` has all of them"
            )
    chosen = [
        ConformanceRow(scenario, protocol, transport)
        for scenario in SCENARIOS.values()
        if scenario.name in names or not (names or scenario.unasked)
        for protocol in protocols
        if protocol in scenario.protocols
        for transport in transports
    ]
    if not chosen:
        raise UsageError(f"{', '.join(names)}: not for {', '.join(protocols)}; choose another --protocol")
    return chosen
