"""The self-test: a server, the client on all of the server's scenarios, and the evaluation."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import orjson

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.protocols import PROTOCOLS, codec_of
from loadgen.driver.client.transport import load_transport
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.probe import Prober
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.stop import run_unless_interrupted
from loadgen.driver.workers.framing import FrameReader, unmarshalled
from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.dialects import plain_sse
from loadgen.mock_endpoint.scenarios.frame_writers import DIALECTS
from loadgen.mock_endpoint.scenarios.listeners import certificate_file
from loadgen.plugins.selftest.measured import read
from loadgen.plugins.selftest.row_result import closest, evaluate
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from loadgen.plugins.selftest.row_result import RowResult
    from loadgen.plugins.selftest.selftest_row import ConformanceRow

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec
    from loadgen.driver.client.transport import Transport
    from loadgen.driver.requests.turn import Emit
    from loadgen.plugins.selftest.selftest_row import ConformanceRow

    MakeCodec = Callable[[str, Mapping[str, Any]], Codec]
    Log = Callable[[Transport, Event | None], None]

CONCURRENCY: Final = 2
HEAVY: Final = 2
"""How many rows are tried at a time of those that keep server and client busy."""

PHASE: Final = "performance"
_OK: Final = 200


AT_ONCE: Final = 24
"""How many rows are tried concurrently."""

CALM: Final = (2, 1, 1, 1)
"""How many rows are tried concurrently in each repetition of those whose times were off."""

_TABLE_TIMEOUT_S: Final = 10.0


def ask(
    rows: Sequence[ConformanceRow],
    folder: Path,
    *,
    bases: Mapping[str, str],
    at_once: int,
    done: Callable[[ConformanceRow], None],
    make_codec: MakeCodec = codec_of,
) -> Collection[str]:
    """Ask every row's requests, into a dedicated log; return those that compiled code followed to the end."""
    plain: set[str] = set()
    settings = {"command": "selftest", "protocol": "mixed", "model": "scenario", "stream": True}
    with EventRecorder(path=folder / LOG_NAME, settings=settings) as recorder:
        _tell(recorder.put, EventType.TEST_STARTED)
        _tell(recorder.put, EventType.PHASE_STARTED, phase=PHASE, duration_s=None, requests=None)
        log = partial(_in_order, recorder, plain)
        run_unless_interrupted(lambda: _ask_all(rows, bases, log, at_once, done, make_codec))
        _tell(recorder.put, EventType.STOP_PERFORMANCE_TRACKING, reason="requests", scheduled=None)
        _tell(recorder.put, EventType.PHASE_ENDED, phase=PHASE)
        _tell(recorder.put, EventType.TEST_ENDED, reason="completed")
    return plain


def _in_order(recorder: EventRecorder, plain: set[str], transport: Transport, event: Event | None) -> None:
    """Log an event after the rows that compiled code has of earlier ones; note whose ends these are."""
    rows = transport.plain_rows(0) if isinstance(transport, HttpTransport) else None
    if rows is not None:
        (payload,) = FrameReader().feed(rows[0])
        _, since_ns, made = unmarshalled(payload)
        recorder.put_rows(made, since_ns)
        plain |= {request for code, _, request, *_ in made if code == EventType.COMPLETE}
    if event is not None:
        recorder.put(event)


def _tell(emit: Emit, kind: EventType, **data: Any) -> None:
    emit(Event(kind, time.monotonic_ns(), data=data or None))


async def _ask_all(
    rows: Sequence[ConformanceRow],
    bases: Mapping[str, str],
    log: Log,
    at_once: int,
    done: Callable[[ConformanceRow], None],
    make_codec: MakeCodec,
) -> None:
    """Ask rows with relevant times first, then rows with much work, then failures."""

    async def take(waiting: Iterator[tuple[int, ConformanceRow]]) -> None:
        for number, row in waiting:
            await _ask_row(number, row, bases[row.scenario.name], log, make_codec)
            done(row)

    waves: dict[tuple[bool, int], list[tuple[int, ConformanceRow]]] = defaultdict(list)
    for number, row in enumerate(rows):
        waves[not row.scenario.completes, row.scenario.heavy].append((number, row))
    for (fails, heavy), wave in sorted(waves.items()):
        waiting = iter(wave)
        takers = min(at_once, HEAVY) if heavy else at_once * (1 + fails)
        await asyncio.gather(*(take(waiting) for _ in range(takers)))


async def _ask_row(number: int, row: ConformanceRow, base: str, log: Log, make_codec: MakeCodec) -> None:
    """Ask one row's requests, over a dedicated transport."""
    scenario, entry = row.scenario, PROTOCOLS[row.protocol]
    path = f"/{scenario.name}/v1"
    places = {"path": f"{path}{DIALECTS[row.protocol].path}", **plain_sse.PLACES} if entry.described else {}
    codec = make_codec(row.protocol, places)
    url = base if entry.rooted else f"{base}{path}"
    # No authority has signed the certificate of the server; those of other places must be refused.
    verify = scenario.place != "http"
    target = endpoint(url, codec.headers(KEY), verify=verify, rooted=entry.rooted)
    transport = load_transport(row.transport)(target, scenario.timeouts)
    generation = Generation("scenario", stream=entry.stream != "never")
    emit = partial(log, transport)
    runner = RequestRunner(transport, codec, generation, emit, follows_plain=True)
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
        emit(None)
        await transport.close()


def try_all(
    rows: Sequence[ConformanceRow],
    folder: Path,
    *,
    done: Callable[[ConformanceRow], None] = lambda _: None,
    make_codec: MakeCodec = codec_of,
    at_once: int = AT_ONCE,
    tls: bool = False,
) -> list[RowResult]:
    """Try rows; repeat rows that differ only in times, up to four times, with less concurrency.

    In a repetition the request that is closest to the truth counts. With `tls` the server speaks TLS.

    Raises:
        MockSetupError: The server did not start.
        WriterError, LogError: A log could not be written, or read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    certificate = certificate_file("self_signed") if tls else None
    with start_mock(scenario="plain", truth=folder / "truth.jsonl", tls_cert=certificate) as mock:
        asking = partial(ask, bases=bases(mock), done=done, make_codec=make_codec)
        results = {
            result.row: result
            for result in _attempt(rows, mock, folder / "1", partial(asking, at_once=at_once))
        }
        for number, calm in enumerate(CALM, start=2):
            if late := [result.row for result in results.values() if result.late]:
                again = _attempt(late, mock, folder / str(number), partial(asking, at_once=calm), closest)
                results |= {result.row: replace(result, tries=number) for result in again}
    return list(results.values())


def _attempt(
    rows: Sequence[ConformanceRow],
    mock: MockProcess,
    folder: Path,
    asking: Callable[..., Collection[str]],
    typical: Callable[[Sequence[float]], float] = median,
) -> list[RowResult]:
    folder.mkdir()
    asked = read(folder, asking(rows, folder))
    truth = {request.request_id: request for request in mock.truth()}
    return [evaluate(row, asked.get(number, ()), truth, typical) for number, row in enumerate(rows)]


def bases(mock: MockProcess) -> Mapping[str, str]:
    """The server's base URL of each scenario, without a path."""
    parts = urlsplit(mock.url)
    place: dict[str, Any] = {"host": parts.hostname, "port": parts.port, "timeout": _TABLE_TIMEOUT_S}
    if parts.scheme == "https":
        trust = ssl.create_default_context(cafile=certificate_file("self_signed"))
        trust.check_hostname = False
        connection: HTTPConnection = HTTPSConnection(**place, context=trust)
    else:
        connection = HTTPConnection(**place)
    with closing(connection):
        connection.request("GET", "/")
        table: list[dict[str, Any]] = orjson.loads(connection.getresponse().read())
    return {row["name"]: row["url"].removesuffix(f"/{row['name']}/v1") for row in table}
