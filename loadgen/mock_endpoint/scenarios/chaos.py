"""A mix of scenarios: most requests get a short answer, some a fault, which one is drawn."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios import timetable
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.scenarios.frame_writers import ALL
from loadgen.mock_endpoint.scenarios.http import stream
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED, PATIENT, Scenario
from loadgen.mock_endpoint.scenarios.timetable import words

if TYPE_CHECKING:
    from loadgen.mock_endpoint.scenarios.dialect import Dialect
    from loadgen.mock_endpoint.scenarios.steps import ScenarioScript

_TOKENS: Final = 4
_FIRST_MS: Final = 2.0
_GAP_MS: Final = 1.0


def short(dialect: Dialect) -> ScenarioScript:
    """Four tokens within 5 ms."""
    contents = words(_TOKENS)
    end_ms = _FIRST_MS + _GAP_MS * (_TOKENS - 1)
    return stream(
        [
            *timetable.opening(dialect, 0),
            *timetable.paced(dialect, contents, first_ms=_FIRST_MS, gap_ms=_GAP_MS),
            *timetable.ending(dialect, contents, finish_ms=end_ms, usage_ms=end_ms, done_ms=end_ms),
        ]
    )


SHORT: Final = Scenario("short", "four tokens within 5 ms", short, protocols=ALL)

AFTER_UNASKED: Final = "after_unasked"
"""What the truth calls a request that was sent on a connection with an unasked response, and has no other."""

FAULTS: Final = tuple(
    scenario
    for scenario in SCENARIOS.values()
    if scenario.timeouts == PATIENT and not scenario.heavy and scenario.place == "http"
    if COMPLETED not in scenario.sees or scenario.unasked
)
"""What is drawn from: faults that are over within a fraction of a second, whatever the client's timeouts."""


class Chaos:
    """Draws a scenario for each request.

    Args:
        seed: Under the same one, request n (in order of arrival) draws the same.
    """

    def __init__(self, fault_share: float, seed: int) -> None:
        self._share = fault_share
        self._random = Random(seed)  # noqa: S311 (no secret depends on it)

    def draw(self, protocol: str) -> Scenario:
        """The next request's scenario."""
        drawn, place = self._random.random(), self._random.random()
        if drawn >= self._share:
            return SHORT
        able = [scenario for scenario in FAULTS if protocol in scenario.protocols]
        return able[int(place * len(able))]
