"""The probes of a run: sent by the parent process, which issues nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transport import load_transport
from loadgen.driver.requests.turn import RequestRunner
from loadgen.plugins.probes.probe_kind import ProbeKind
from workloads.lengths import lengths
from workloads.synthetic.to_length import Wanted, prompts_to_length

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Generation
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.system.clock import Clock
    from loadgen.sessions.run.preparation import Prepared

PHASE: Final = "probe"
"""The phase of probes in the log: no figure of the load counts probes."""

GRACE_S: Final = 10.0
"""Probes in flight when the load has ended are awaited for this time, and then given up."""

_TEXTS: Final = 10_000
_SECOND: Final = 1_000_000_000


class LoadProbes:
    """Sends probes in the measured phase; see `loadgen.driver.load_session.PhaseHook`.

    Args:
        prepared: The run; each endpoint gets its probes.
        emit: Logs an event.
        clock: The time.
    """

    def __init__(self, prepared: Prepared, emit: Emit, clock: Clock) -> None:
        plan, settings = prepared.plan, prepared.perf
        self._kind = ProbeKind.read(str(settings.load.probes))
        self._clock = clock
        self._first_index = len(prepared.dataset.samples)
        seed = (settings.prompts.text_seed or plan.seed) + 1
        size = lengths("--probes", str(self._kind.input_tokens))
        self._samples = prompts_to_length(Wanted(_TEXTS, size, seed=seed, salt=seed)).samples
        generation = replace(
            plan.generation,
            model=self._kind.model or plan.generation.model,
            max_tokens=self._kind.output_tokens,
        )
        self._made = settings.client.transport, prepared.targets, plan.timeouts
        self._rest: tuple[Any, Generation, Emit] = (
            codec_of(plan.protocol, plan.protocol_options),
            generation,
            emit,
        )
        self._issuing: asyncio.Task[None] | None = None
        self._in_flight: set[asyncio.Task[Any]] = set()

    async def before(self, phase: str) -> None:
        """Begin with the measured phase."""
        if phase == "performance":
            name, targets, timeouts = self._made
            make = load_transport(name)
            self._transports = [make(target, timeouts) for target in targets]
            first, *further = self._transports
            self._runner = RequestRunner(first, *self._rest, further=further)
            self._issuing = asyncio.create_task(self._issue())

    async def after(self, phase: str) -> None:
        """End with the measured phase; after the drain give up what is in flight for too long."""
        if phase == "performance" and self._issuing is not None:
            self._issuing.cancel()
            await asyncio.gather(self._issuing, return_exceptions=True)
        if phase == "drain" and self._issuing is not None:
            if self._in_flight:
                await asyncio.wait(self._in_flight, timeout=GRACE_S)
            for task in self._in_flight:
                task.cancel()
            await asyncio.gather(*self._in_flight, return_exceptions=True)
            await asyncio.gather(*(transport.close() for transport in self._transports))

    async def _issue(self) -> None:
        start_ns, endpoints = self._clock.now_ns(), len(self._transports)
        for number in count():
            due_ns = start_ns + round(number // endpoints / self._kind.rate * _SECOND)
            await self._clock.sleep_until(due_ns)
            sample = self._samples[number % len(self._samples)]
            sample = replace(sample, index=self._first_index + sample.index)
            probe = self._runner.run(sample, self._runner.prepare(sample), due_ns, PHASE, number % endpoints)
            task = asyncio.create_task(probe)
            self._in_flight.add(task)
            task.add_done_callback(self._in_flight.discard)
