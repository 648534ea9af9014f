"""`loadgen check` and a run agree on every scenario of the mock: what one completes, the other calls ok."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.requests.turn import RequestRunner
from loadgen.mock_endpoint import start_mock
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.scenarios.dialects import plain_sse
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED
from loadgen.plugins.selftest.trial import bases
from loadgen.sessions.run.endpoint_checks import ask_endpoint
from loadgen.sessions.run.preparation import targets_of, timeouts_of
from loadgen.sessions.run.protocol_options import options_of
from loadgen.sessions.settings.endpoint_options import CheckSettings
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.mock_endpoint.scenarios.scenario import Scenario
    from loadgen.sessions.run.endpoint_checks import CheckLine

AT_ONCE = 16
PATIENCE = 3
"""How many times its time a scenario gets that completes: on a busy machine it takes longer."""


def settings_for(scenario: Scenario, base: str) -> CheckSettings:
    """The options of `loadgen check` with which a client meets a scenario."""
    timeouts, protocol = scenario.timeouts, scenario.protocols[0]
    patience, path = PATIENCE if scenario.completes else 1, f"/{scenario.name}/v1"
    places: dict[str, Any] = {}
    if PROTOCOLS[protocol].described:
        path, places = "", {"path": f"{path}{DIALECTS[protocol].path}", **plain_sse.PLACES}
    return CheckSettings(
        url=f"{base}{path}",
        model="scenario",
        **places,
        protocol=protocol,
        timeout=timeouts.timeout_s * patience,
        connect_timeout=timeouts.connect_timeout_s,
        first_byte_timeout=timeouts.first_byte_timeout_s,
        idle_timeout=timeouts.idle_timeout_s,
    )


async def checked(settings: CheckSettings) -> str:
    """What `loadgen check` says: `ok`, or why not."""
    lines: list[CheckLine] = []
    try:
        await ask_endpoint(settings, lines.append)
    except (UnreachableError, RejectedError) as error:
        return str(error)
    failed = [line.detail for line in lines if line.status == "failed"]
    return failed[0] if failed else "ok"


async def run(settings: CheckSettings) -> str:
    """What a run makes of its only request: `completed`, or the name of the failure."""
    (target,) = targets_of(settings)
    codec = codec_of(settings.protocol, options_of(settings))
    transport = HttpTransport(target, timeouts_of(settings))
    generation = Generation(settings.model, stream=settings.protocol != "json")
    runner = RequestRunner(transport, codec, generation, lambda _: None)
    sample = Sample(0, "Say hello.")
    try:
        outcome = await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")
    finally:
        await transport.close()
    return outcome.failure or COMPLETED


async def both(scenarios: Mapping[str, Scenario], urls: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The outcomes of the two by scenario."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def outcome_of(scenario: Scenario) -> tuple[str, str]:
        settings = settings_for(scenario, urls[scenario.name])
        async with slots:
            return await checked(settings), await run(settings)

    outcomes = await asyncio.gather(*map(outcome_of, scenarios.values()))
    return dict(zip(scenarios, outcomes, strict=True))


@pytest.mark.slow
def test_check_and_a_run_agree_on_every_scenario() -> None:
    """Where either outcome is right, the two need not agree."""
    decided = {
        name: scenario
        for name, scenario in SCENARIOS.items()
        if scenario.completes or COMPLETED not in scenario.sees
    }
    with start_mock(scenario="plain") as mock:
        outcomes = asyncio.run(both(decided, bases(mock)))
    for name, (answer, outcome) in outcomes.items():
        assert outcome in decided[name].sees, name
        assert (answer == "ok") == (outcome == COMPLETED), (name, answer, outcome)
