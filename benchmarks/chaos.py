"""Many requests, a share of which meet faults: each ends exactly once, and as the server knows it must.

`loadgen perf` against `loadgen mock --scenario chaos`, which writes down what it did to each request and what
a client must have seen of it. Every request must have one terminal event, of a name that the server expects;
the counts must add up to the server's own; and neither descriptors nor memory of the workers may grow. Then
copies of the run's log are damaged: each must be reported, or said to be damaged.

    python benchmarks/chaos.py [--requests N] [--fault-share F] [--workers N] [--seed N] [--damages N]
        [--tls] [--json]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import under_load
from damaged_logs import damaged_logs
from soak import watch
from trend import trend

from loadgen.driver.client.endpoint import resent_id
from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.chaos import AFTER_UNASKED
from loadgen.mock_endpoint.scenarios.listeners import certificate_file
from recorder.event import TERMINAL, EventType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from subprocess import Popen

    from soak import Samples

CONCURRENCY: Final = 32

SPARE_FILES: Final = 24
"""The files that a worker has open in addition to its connections: its own, and what it inherited."""

GROWTH_MB: Final = 5.0
"""What memory may grow by, once a run has settled."""

SETTLED_S: Final = 5.0
"""A shorter run does not show whether its memory grows."""

CHANCE: Final = 5.0
"""The standard deviations that count as chance."""

MOST_SHOWN: Final = 20
_TERMINAL: Final = frozenset(kind.value for kind in TERMINAL)
_PLAIN: Final = {EventType.COMPLETE.value: "completed", EventType.CANCELLED.value: "cancelled"}
_INVALID: Final = 4
_UNASKED: Final = "unasked_responses"
_FORGIVEN: Final = frozenset({"client_limited", "many_failures", _UNASKED})
"""Why a run may be invalid here: nothing is timed, a fifth fails, and the server answers twice."""

_CLOCKS_NS: Final = 20_000
"""The kernel's stamps and the client's come from two clocks."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the campaign.

    Attributes:
        requests: How many were issued.
        faults: How many met a fault, by the server's own word.
        seen: How they ended, by name.
        scenarios: What the server played, by name.
        damages: The outcomes of the damaged copies of the log, with their numbers.
        wrong: What is wrong, in sentences; empty when everything is right.
        requests_s: How many there were a second.
    """

    requests: int
    faults: int
    seen: Mapping[str, int]
    scenarios: Mapping[str, int]
    damages: Mapping[str, int]
    wrong: tuple[str, ...]
    requests_s: float


def chaos(
    requests: int, fault_share: float, workers: int, seed: int, damages: int, *, tls: bool = False
) -> Outcome:
    """Send requests, over TLS or without, and damage copies of the log.

    Raises:
        RuntimeError: The run failed; the message is its own.
    """
    with (
        TemporaryDirectory(prefix="loadgen-chaos-") as folder,
        start_mock(
            scenario="chaos",
            fault_share=fault_share,
            seed=seed,
            tls_cert=certificate_file("self_signed") if tls else None,
        ) as mock,
    ):
        run = Path(folder) / "run"
        load = ("-c", CONCURRENCY, "--requests", requests, "--workers", workers, "--no-probe")
        load += ("--insecure",) if tls else ()
        process = under_load.start(mock.url, run, *load)
        try:
            samples = _watched(process, run, workers)
        finally:
            under_load.end(process, ())
        if process.returncode not in (0, _INVALID):
            raise RuntimeError(f"the run failed: {run.with_name('output').read_text()}")
        report = json.loads((run / "report.json").read_bytes())
        truth = _by_request(mock.truth(requests))
        issued, endings = _endings(run / "events.db")
        wrong = [
            *_once(issued, endings),
            *_as_expected(endings, truth),
            *_completed_too_early(endings, truth, _sent(run / "events.db")),
            *_unasked_reported(report, endings),
            *_counted(report, endings),
            *_grown(samples, workers),
        ]
        drawn = [request.scenario for request in truth.values() if request.scenario != AFTER_UNASKED]
        faults = sum(name != "short" for name in drawn)
        wrong += [*_faulty(len(drawn), faults, fault_share), *_invalid(report)]
        damaged = damaged_logs(run / "events.db", damages, seed)
        return Outcome(
            requests=len(issued),
            faults=faults,
            seen=dict(Counter(name for names in endings.values() for name in names).most_common()),
            scenarios=dict(Counter(request.scenario for request in truth.values()).most_common()),
            damages=damaged.outcomes,
            wrong=(*wrong, *damaged.wrong),
            requests_s=report["counts"]["issued"] / report["window"]["duration_s"],
        )


def _by_request(truths: Iterable[Any]) -> dict[str, Any]:
    """The server's record of each request; of one that went out again, the record of the second sending."""
    received = sorted((true for true in truths if true.request_id), key=lambda true: true.received_ns)
    return {true.request_id.removesuffix(resent_id("")): true for true in received}


def _watched(process: Popen[bytes], run: Path, workers: int) -> Samples:
    """Look at the processes while they work; the run ends by itself."""
    while process.poll() is None and not under_load.events_of(run / "events.db", EventType.REQUEST_SENT):
        time.sleep(0.02)
    pids = under_load.workers_of(process.pid)
    under_load.require_all(pids, workers, process, run)
    return watch(process, pids, interval_s=0.1)


def _endings(log: Path) -> tuple[set[str], dict[str, list[str]]]:
    """The requests that were issued, and the name of each ending of each request."""
    endings: dict[str, list[str]] = {}
    with closing(sqlite3.connect(log)) as connection:
        rows = connection.execute(
            "SELECT code, sample_uuid, json_extract(data, '$.error') FROM events WHERE sample_uuid <> ''",
        ).fetchall()
    for code, uuid, error in rows:
        if code in _TERMINAL:
            endings.setdefault(uuid, []).append(error or _PLAIN.get(code, "?"))
    return {uuid for code, uuid, _ in rows if code == EventType.LOADGEN_ISSUE_CALLED}, endings


def _once(issued: set[str], endings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Every request ends exactly once."""
    for uuid in issued | endings.keys():
        if uuid not in issued or len(endings.get(uuid, ())) != 1:
            yield f"request {uuid} ended as {endings.get(uuid, [])}"


def _as_expected(endings: Mapping[str, Sequence[str]], truth: Mapping[str, Any]) -> Iterator[str]:
    """And as the server knows that it must."""
    if endings.keys() != truth.keys():
        yield f"the client knows {len(endings)} requests, the server {len(truth)}"
    for uuid in endings.keys() & truth.keys():
        true = truth[uuid]
        if endings[uuid][-1] not in true.expect:
            yield f"{true.scenario} ended as {endings[uuid][-1]}, not as {' or '.join(true.expect)}"


def _sent(log: Path) -> dict[str, int]:
    """When the client sent each request, ns of CLOCK_MONOTONIC."""
    with closing(sqlite3.connect(log)) as connection:
        query = "SELECT sample_uuid, at_ns FROM events WHERE code = ?"
        return dict(connection.execute(query, [EventType.REQUEST_SENT]).fetchall())


def _completed_too_early(
    endings: Mapping[str, Sequence[str]], truth: Mapping[str, Any], sent: Mapping[str, int]
) -> Iterator[str]:
    """An unasked response passes for an answer only where the request left before it had come."""
    for uuid, true in truth.items():
        late_ns = sent.get(uuid, 0) - true.unasked_ns
        if true.unasked_ns and late_ns > _CLOCKS_NS and "completed" in endings.get(uuid, ()):
            yield f"a response that came {late_ns / 1e6:.3f} ms before request {uuid} was sent completed it"


def _unasked_reported(report: Mapping[str, Any], endings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The report says that unasked responses came."""
    seen = sum("unasked_response" in names for names in endings.values())
    if seen and not any(finding["code"] == _UNASKED for finding in report["findings"]):
        yield f"{seen} requests met an unasked response, and no finding says so"


def _counted(report: Mapping[str, Any], endings: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The report's counts are those of the log."""
    counts, ends = report["counts"], Counter(names[-1] for names in endings.values())
    by_error = Counter(counts["by_error"])
    by_error["completed"] += counts["completed"]
    by_error["cancelled"] += counts["cancelled"]
    if +by_error != +ends:
        yield f"the report counts {dict(+by_error)}, the log {dict(+ends)}"
    if counts["issued"] != len(endings) or counts["in_flight"]:
        yield f"of {counts['issued']} requests {len(endings)} ended, {counts['in_flight']} are in flight"


def _faulty(requests: int, faults: int, share: float) -> Iterator[str]:
    """As many requests met a fault as planned, except for chance."""
    if abs(faults - share * requests) > CHANCE * sqrt(requests * share * (1 - share)):
        yield f"{faults} of {requests} requests met a fault, and {100 * share:.0f} % of them were to"


def _invalid(report: Mapping[str, Any]) -> Iterator[str]:
    """Faults do not make a run invalid."""
    for finding in report["findings"]:
        if finding["severity"] == "error" and finding["code"] not in _FORGIVEN:
            yield f"the run is invalid: {finding['message']}"


def _grown(samples: Samples, workers: int) -> Iterator[str]:
    """Memory is flat, threads are, and no worker has more sockets than requests in flight."""
    # When its workers are gone, the parent makes the report, which takes its own memory.
    over_s = min(seen[-1][0] for name, seen in samples.items() if not name.startswith("parent"))
    for name, every in samples.items():
        seen = [sample for sample in every if sample[0] <= over_s]
        process, _, what = name.partition(": ")
        if what == "descriptors" and process != "parent":
            greatest, allowed = max(value for _, value in seen), CONCURRENCY // workers + SPARE_FILES
            if greatest > allowed:
                yield f"{name}: {greatest:.0f}, more than the {allowed} of its requests in flight"
        elif what == "memory" and seen[-1][0] - seen[0][0] > SETTLED_S:
            grown = trend(name, "MB", seen, least=GROWTH_MB)
            if not grown.flat:
                yield f"{name}: grew by {grown.growth:.1f} MB, more than {grown.limit:.1f}"
        elif what == "threads" and process != "parent" and seen[-1][1] > seen[0][1]:
            yield f"{name}: {seen[0][1]:.0f} at first, {seen[-1][1]:.0f} in the end"


def main() -> int:
    """Run the campaign, and print the result; 0 when everything was right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=10_000, help="how many; 10,000 by default")
    parser.add_argument("--fault-share", type=float, default=0.2, help="of them; 0.2 by default")
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 2 by default")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--damages", type=int, default=20, help="damaged copies of the log; 20 by default")
    parser.add_argument("--tls", action="store_true", help="over TLS")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    settings = options.requests, options.fault_share, options.workers, options.seed, options.damages
    result = chaos(*settings, tls=options.tls)
    if options.json:
        print(json.dumps(asdict(result), indent=2))
        return 1 if result.wrong else 0
    for what, counted, counts in (
        ("scenario", "requests", result.scenarios),
        ("ended as", "requests", result.seen),
        ("damaged logs", "copies", result.damages),
    ):
        print(under_load.table({what: name, counted: count} for name, count in counts.items()), end="\n\n")
    met = f"{result.requests} requests, {result.faults} of them met a fault, {result.requests_s:,.0f}/s"
    print(f"{'FAIL' if result.wrong else 'PASS'}: {met}")
    for wrong in result.wrong[:MOST_SHOWN]:
        print(f"  {wrong}")
    return 1 if result.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
