"""All scenarios, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios.answers import ANSWERS
from loadgen.mock_endpoint.scenarios.connections import CONNECTIONS
from loadgen.mock_endpoint.scenarios.faults import FAULTS
from loadgen.mock_endpoint.scenarios.shapes import SHAPES
from loadgen.mock_endpoint.scenarios.writings import WRITINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.scenario import Scenario

SCENARIOS: Final[Mapping[str, Scenario]] = {
    scenario.name: scenario for scenario in (*SHAPES, *WRITINGS, *FAULTS, *ANSWERS, *CONNECTIONS)
}
"""In the order in which they are shown."""

CHAOS: Final = "chaos"
"""Not a scenario but a mix of them: see `loadgen.mock_endpoint.scenarios.chaos`."""
