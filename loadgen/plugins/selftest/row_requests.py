"""Asking: the client that the workers use, two requests at a time, every event into a log."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.transport import load_transport
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Prober
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.stop import run_unless_interrupted
from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.dialects import plain_sse
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.driver.client.codec import Codec
    from loadgen.driver.requests.turn import Emit
    from loadgen.plugins.selftest.selftest_row import ConformanceRow

    MakeCodec = Callable[[str, Mapping[str, Any]], Codec]

CONCURRENCY: Final = 2
HEAVY: Final = 2
"""How many rows are tried at a time of those that keep server and client busy."""

PHASE: Final = "performance"
_OK: Final = 200


def ask(
    rows: Sequence[ConformanceRow],
    folder: Path,
    *,
    bases: Mapping[str, str],
    at_once: int,
    done: Callable[[ConformanceRow], None],
    make_codec: MakeCodec = codec_of,
) -> None:
    """Ask every row's requests, into a dedicated log.

    Args:
        rows: The prompt of row n has the id n.
        folder: Where the log goes.
        bases: What the server is met at for each scenario, without a path.
        at_once: How many rows are tried at a time.
        done: Called when a row has been asked.
        make_codec: Makes the codec of a protocol.

    Raises:
        WriterError: The log could not be written.
    """
    settings = {"command": "selftest", "protocol": "mixed", "model": "scenario", "stream": True}
    with EventRecorder(path=folder / LOG_NAME, settings=settings) as recorder:
        _tell(recorder.put, EventType.TEST_STARTED)
        _tell(recorder.put, EventType.PHASE_STARTED, phase=PHASE, duration_s=None, requests=None)
        run_unless_interrupted(_ask_all(rows, bases, recorder.put, at_once, done, make_codec))
        _tell(recorder.put, EventType.STOP_PERFORMANCE_TRACKING, reason="requests", scheduled=None)
        _tell(recorder.put, EventType.PHASE_ENDED, phase=PHASE)
        _tell(recorder.put, EventType.TEST_ENDED, reason="completed")


def _tell(emit: Emit, kind: EventType, **data: Any) -> None:
    emit(Event(kind, time.monotonic_ns(), data=data or None))


async def _ask_all(
    rows: Sequence[ConformanceRow],
    bases: Mapping[str, str],
    emit: Emit,
    at_once: int,
    done: Callable[[ConformanceRow], None],
    make_codec: MakeCodec,
) -> None:
    """Ask rows with relevant times first, then rows with much work, then failures."""

    async def take(waiting: Iterator[tuple[int, ConformanceRow]]) -> None:
        for number, row in waiting:
            await _ask_row(number, row, bases[row.scenario.name], emit, make_codec)
            done(row)

    waves: dict[tuple[bool, int], list[tuple[int, ConformanceRow]]] = defaultdict(list)
    for number, row in enumerate(rows):
        waves[not row.scenario.completes, row.scenario.heavy].append((number, row))
    for (fails, heavy), wave in sorted(waves.items()):
        waiting = iter(wave)
        takers = min(at_once, HEAVY) if heavy else at_once * (1 + fails)
        await asyncio.gather(*(take(waiting) for _ in range(takers)))


async def _ask_row(number: int, row: ConformanceRow, base: str, emit: Emit, make_codec: MakeCodec) -> None:
    """Ask one row's requests, over a dedicated transport."""
    scenario, entry = row.scenario, PROTOCOLS[row.protocol]
    path = f"/{scenario.name}/v1"
    places = {"path": f"{path}{DIALECTS[row.protocol].path}", **plain_sse.PLACES} if entry.described else {}
    codec = make_codec(row.protocol, places)
    target = endpoint(base if entry.rooted else f"{base}{path}", codec.headers(KEY), rooted=entry.rooted)
    transport = load_transport(row.transport)(target, scenario.timeouts)
    generation = Generation("scenario", stream=entry.stream != "never")
    runner = RequestRunner(transport, codec, generation, emit)
    sample = Sample(number, f"{row}")
    numbers = count()

    async def user() -> None:
        while next(numbers) < row.requests:
            await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), PHASE)
            await asyncio.sleep(scenario.pause_ms / 1e3)

    try:
        if scenario.models != _OK:
            # As perf does before a run; who is turned away asks no more, and the row lacks its requests.
            await Prober(transport, codec, generation).require_ready()
        await asyncio.gather(*(user() for _ in range(min(CONCURRENCY, row.requests))))
    except (UnreachableError, RejectedError):
        return
    finally:
        await transport.close()
