"""The client of the endpoint that simulates users."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.attempt import Retries
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.requests.turn_outcome import AnswerUse
from loadgen.plugins.agents.asking import USER_PHASE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from loadgen.plugins.agents.episode_plan import UserEndpoint
    from workloads.sample import Sample

_RETRIES: Final = 3


class SimulatedUserClient:
    """A client of the endpoint that simulates users."""

    def __init__(self, user: UserEndpoint, make_transport: Callable[..., Any], emit: Emit) -> None:
        self.transport = make_transport(
            user.target, Timeouts(timeout_s=user.timeout_s, named="--user-timeout")
        )
        self._generation = Generation(user.model, temperature=user.temperature, stream=False)
        self._runner = RequestRunner(
            *(self.transport, chat_completions, self._generation, emit),
            retries=Retries(_RETRIES, user.timeout_s),
        )

    async def ask(self, sample: Sample, more: Mapping[str, Any]) -> TurnOutcome:
        """Request the next message of the user."""
        body = orjson.dumps(chat_completions.request(sample, self._generation))
        now_ns = time.monotonic_ns()
        return await self._runner.run(sample, body, now_ns, USER_PHASE, more=more, use=AnswerUse.READ)
