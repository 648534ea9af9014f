"""Valid logs of any size, written as fast as SQLite takes rows: of one process, or of several machines.

    python benchmarks/generated_logs.py FOLDER REQUESTS [--shards N]

One request is issued every millisecond; each has four events, 16 chunks and an answer of 16 words. Stamps,
gaps and words are drawn at random, so that a log cannot be compressed better than a real one.
"""

from __future__ import annotations

import argparse
import sqlite3
from array import array
from contextlib import closing
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from recorder import Event, EventType, schema, shards
from recorder.session import Session
from recorder.store import LOG_NAME, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

CHUNKS: Final = 16
BASE_NS: Final = 10**15
WALL_NS: Final = 1_767_323_045_000_000_000
MS: Final = 1_000_000
AHEAD_NS: Final = 7_000_000_000_000
"""By how much the clock of each further node is ahead."""

_ROWS_A_COMMIT: Final = 200_000
_DRAWN: Final = 32 + 40
"""Random bytes for the gaps and the words of one request."""

_INSERT: Final = f"INSERT INTO events ({', '.join(schema.COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
_LETTERS: Final = "etaoinshrdlu"


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("requests", type=int)
    parser.add_argument("--shards", type=int, default=0, help="nodes; 0 for a single log")
    options = parser.parse_args()
    write(options.folder, options.requests, options.shards)


def write(folder: Path, requests: int, nodes: int = 0) -> None:
    """Write the log of a run, or its coordinator's and one for each node, with the same requests."""
    settings = {
        "load": {"kind": "constant", "rate": 1000.0},
        "url": "http://127.0.0.1:1",
        "model": "generated",
    }
    begin = [(EventType.PHASE_STARTED, 0, {"phase": "performance"})]
    last_ns = requests * MS
    end = [
        (EventType.STOP_PERFORMANCE_TRACKING, last_ns, {"reason": "requests", "scheduled": requests}),
        (EventType.TEST_ENDED, last_ns + 1000 * MS, {"reason": "completed"}),
    ]
    if not nodes:
        _log(folder, settings, {}, 0, [begin, end], range(requests))
        return
    names = [shards.node_name(number) for number in range(nodes)]
    readings = [
        shards.ClockReading(name, BASE_NS + at_ns, -number * AHEAD_NS, 50_000, 100_000).event()
        for number, name in enumerate(names)
        for at_ns in (0, last_ns)
    ]
    clocks = [(reading.type, reading.at_ns - BASE_NS, reading.data) for reading in readings]
    environment = shards.coordinator_environment([{"shard": name} for name in names], None)
    _log(folder, settings, environment, 0, [clocks + begin, end], range(0))
    with get_context("spawn").Pool() as pool:
        placed = folder / shards.FOLDER
        jobs = [
            (
                *(shards.shard_folder(placed, name), settings, shards.shard_environment(name, nodes)),
                *(number * AHEAD_NS, [begin, end], range(number, requests, nodes)),
            )
            for number, name in enumerate(names)
        ]
        pool.starmap(_log, jobs, chunksize=1)


def _log(
    folder: Path,
    settings: Mapping[str, Any],
    environment: Mapping[str, Any],
    ahead_ns: int,
    around: list[list[tuple[EventType, int, Any]]],
    numbers: range,
) -> None:
    """One log: of the session's events, and of the requests of these numbers between them."""
    base_ns = BASE_NS + ahead_ns
    session = Session("generated", base_ns, WALL_NS, settings, environment, "boot")
    Store.create(folder / LOG_NAME, session).close()
    first, last = (
        [schema.row(Event(kind, base_ns + at_ns, None, data)) for kind, at_ns, data in part]
        for part in around
    )
    with closing(sqlite3.connect(folder / LOG_NAME, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.executemany(_INSERT, first)
        rows = _rows(numbers, base_ns)
        while many := list(islice(rows, _ROWS_A_COMMIT)):
            connection.executemany(_INSERT, many)
        connection.executemany(_INSERT, last)
        until_ns = last[-1][1]
        connection.execute(schema.BEAT, (until_ns, until_ns))
        connection.execute("COMMIT")


def _rows(numbers: range, base_ns: int) -> Iterator[schema.Row]:
    """The rows of requests."""
    words = _words()
    issue, sent, first_chunk, complete = (
        EventType[name].value for name in ("LOADGEN_ISSUE_CALLED", "REQUEST_SENT", "FIRST_CHUNK", "COMPLETE")
    )
    for number in numbers:
        random = Random(number)  # noqa: S311 (figures, not secrets)
        drawn = random.randbytes(_DRAWN)
        uuid = f"{random.getrandbits(128):032x}"
        gaps_us = array("I", [5_000 + (value * 10_000 >> 16) for value in array("H", drawn[:32])])
        text = " ".join([words[place] for place in drawn[32:48]])
        jitter = array("I", drawn[48:])
        issued_ns = base_ns + number * MS + jitter[0] % 100_000
        sent_ns = issued_ns + 20_000 + jitter[1] % 30_000
        first_ns = sent_ns + gaps_us[0] * 1000 + jitter[2] % 1000
        last_ns = sent_ns + sum(gaps_us) * 1000 + jitter[3] % 1000
        issued = (
            f'{{"scheduled_ns":{base_ns + number * MS},"phase":"performance","prompt_id":{number % 1000}}}'
        )
        done = (
            f'{{"status":200,"first_byte_ns":{first_ns - jitter[4] % 50_000 - 1000},'
            f'"first_token_ns":{first_ns},"first_output_ns":{first_ns},"first_visible_ns":{first_ns},"last_token_ns":{last_ns},'
            f'"first_chunk":{{"content":{len(words[drawn[32]])}}},"chunks":{CHUNKS},"reads":{CHUNKS + 2},'
            f'"coalesced":0,"bytes":{3_000 + len(text)},"finish_reason":"stop",'
            f'"input_tokens":{100 + number % 1000},"output_tokens":{CHUNKS},"stream":true}}'
        )
        yield issue, issued_ns, uuid, issued, None, None
        yield sent, sent_ns, uuid, '{"reused":true}', None, None
        yield first_chunk, first_ns, uuid, None, None, None
        yield (
            complete,
            last_ns + 10_000 + jitter[5] % 90_000,
            uuid,
            done,
            f'{{"output":"{text}"}}',
            gaps_us.tobytes(),
        )


def _words() -> list[str]:
    """A word for each byte."""
    random = Random(1)  # noqa: S311 (figures, not secrets)
    return ["".join(random.choices(_LETTERS, k=random.randrange(2, 10))) for _ in range(256)]


if __name__ == "__main__":
    main()
