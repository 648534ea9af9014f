"""What the scores of a run cost beyond its report, with 10^6 scored samples.

`python benchmarks/scores_scale.py [SAMPLES]` writes the log of a run that asked a benchmark's questions ten
times each and scored every answer, reports it in a separate process, and prints what the scores took: all
that `accuracy` in report.json has, from a log that is open as for any report, with what has to be loaded of
it for the scores. The median of three rounds must stay below 2 s for 10^6 samples. The note has the way from
the run's folder, which opens the log first: most of that is for the figures of performance.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from report_scale import BASE_NS, BATCH, MS, request
from scorecard import Row, table

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.session import Session
from recorder.store import Store
from reporter.accuracy.logged_scores import accuracy
from reporter.log.database import open_log
from reporter.log.subjects import SCORED

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES: Final = 1_000_000
REPEATS: Final = 10
SUBJECTS: Final = 57
ROUNDS: Final = 3
REQUIRED_S: Final = 2.0
AIM_S: Final = 1.5


def main() -> None:
    """Write, report, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("samples", nargs="?", type=int, default=SAMPLES, help="the size of the log")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        print(json.dumps(scored(options.report)))
        return
    with TemporaryDirectory() as folder:
        log = Path(folder) / "events.db"
        write(log, options.samples)
        command = [sys.executable, __file__, "--report", str(log)]
        rounds = [
            json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(ROUNDS)
        ]
    whole = [sum(seconds) for seconds in rounds]
    rows = [
        Row(
            f"scores of {options.samples:,} samples, the log open",
            [load_s + compute_s for _, load_s, compute_s in rounds],
            (REQUIRED_S, AIM_S),
            "s",
            note=f"loading them takes {min(load_s for _, load_s, _ in rounds):.1f} s, computing them "
            f"{min(compute_s for _, _, compute_s in rounds):.1f} s; from the folder {median(whole):.1f} s",
        )
    ]
    print(table(rows))


def scored(log: Path) -> tuple[float, float, float]:
    """Report the scores of a log: what it took in s to open the log, to load them, and to compute."""
    moments = [time.perf_counter()]
    with open_log(log) as opened:
        moments.append(time.perf_counter())
        opened.load(SCORED)
        moments.append(time.perf_counter())
        (score,) = accuracy(opened)
        moments.append(time.perf_counter())
        if score.issued != score.scored or not score.pass_at or not score.groups:
            raise SystemExit("not all samples have a score")
    opened, loaded, done = (after - before for before, after in pairwise(moments))
    return opened, loaded, done


def write(log: Path, samples: int) -> None:
    """Write a log of this many samples, and their scores in a segment after the run."""
    random, questions = Random(samples), max(1, samples // REPEATS)  # noqa: S311 (figures, not secrets)
    task = {"task": "mmlu", "name": "mmlu", "options": {}, "groups": ["subject"], "count": questions}
    settings = {"load": {"kind": "constant", "rate": 1000.0}, "accuracy": {"tasks": [task]}}
    store = Store.create(log, Session("", BASE_NS, BASE_NS, settings, boot_id="this boot"))
    store.append([schema.row(Event(EventType.PHASE_STARTED, BASE_NS, data={"phase": "performance"}))])
    _append(store, (question(number) for number in range(questions)))
    asked = (event for number in range(samples) for event in sample(random, number, questions))
    uuids = _append(store, asked)
    end_ns = BASE_NS + samples * MS
    store.append([schema.row(Event(EventType.TEST_ENDED, end_ns, data={"reason": "completed"}))])
    store.close()
    segment = Session("", end_ns + MS, end_ns + MS, {}, {"kind": "scoring"}, "this boot")
    store = reopen(log, segment)
    _append(store, scoring(random, uuids, end_ns + 2 * MS))
    store.close()


def question(number: int) -> Event:
    """A question of one of many subjects."""
    tags = {"subject": f"subject {number % SUBJECTS}", "task": "mmlu"}
    data = {"prompt_id": number, "task": "mmlu", "id": str(number), "tags": tags}
    return Event(EventType.QUESTION, BASE_NS, None, data)


def sample(random: Random, number: int, questions: int) -> Iterator[Event]:
    """The events of one request; each question is asked in turn."""
    for event in request(random, number, tags=False):
        asked = event.type == EventType.LOADGEN_ISSUE_CALLED
        yield event._replace(data={**(event.data or {}), "prompt_id": number % questions}) if asked else event


def scoring(random: Random, uuids: list[str], at_ns: int) -> Iterator[Event]:
    """A scoring pass over all of them."""
    scorer = {"task": "mmlu", "scorer": "official", "version": 1, "definition": "", "judge": ""}
    yield Event(EventType.SCORING_STARTED, at_ns, None, {"pass": 1, "scorers": [scorer]})
    for uuid in uuids:
        right = random.random() < 0.7  # noqa: PLR2004 (a usual share)
        data: dict[str, Any] = {"pass": 1, "scorer": "official", "value": float(right), "status": "scored"}
        data |= {
            "extracted": "A",
            "reason": "" if right else "B is right",
            "metrics": {"kept": 2, "asked": 3},
        }
        yield Event(EventType.SCORED, at_ns, uuid, data)
    yield Event(EventType.SCORING_ENDED, at_ns, None, {"pass": 1, "reason": "completed"})


def _append(store: Store, events: Iterator[Event]) -> list[str]:
    """Write events in batches; which requests were issued."""
    batch, uuids = [], []
    for event in events:
        batch.append(schema.row(event))
        if event.type == EventType.LOADGEN_ISSUE_CALLED:
            uuids.append(str(event.sample_uuid))
        if len(batch) == BATCH:
            store.append(batch)
            batch = []
    store.append(batch)
    return uuids


if __name__ == "__main__":
    main()
