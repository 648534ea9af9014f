"""The comparison of `make engines` with counters, without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.engines.__main__ import ENGINES, has_failed, table
from benchmarks.engines.engine import HERE, Pair, Server, Step, counters_of, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

PAGE = """\
# TYPE answered counter
answered_total{handler="/a",model="x"} %d
answered_total{handler="/b",model="x"} 7
# TYPE taken_seconds histogram
taken_seconds_bucket{le="1"} 9
taken_seconds_sum %s
taken_seconds_count %d
"""


def test_counts_are_equal_or_differ_and_times_are_only_shown(a_run: Callable[..., Run]) -> None:
    """Rows have the growth of a counter, a mean of two counters, a counter by path, and a missing counter."""
    run = a_run().answers(50, 60, 70).stops(100).ends()
    run.report()
    step = Step(
        "perf",
        (),
        [
            Pair("requests", "SELECT count(*) FROM samples", ["answered_total /a"]),
            Pair("wrong", "SELECT 2", ["answered_total"]),
            Pair("latency", "SELECT 70.0", ["taken_seconds_sum"], "taken_seconds_count", 1000, exact=False),
            Pair("unknown", "SELECT 1", ["other_total"], exact=False),
        ],
    )
    server = Server("engine", (), (), "x", [step])
    before, after = counters_of(PAGE % (3, 1.5, 3)), counters_of(PAGE % (4, 1.56, 4))
    made_rows = list(rows(server, "1.0", step, run.folder, before, after))
    assert [(row.client, row.differs) for row in made_rows] == [
        (1, False),
        (2, True),
        (70, False),
        (1, False),
    ]
    assert made_rows[1].engine == 1
    record = {"server": "engine", "rows": made_rows, "steps": [{"name": "perf", "exit": 4, "failed": True}]}
    assert table([record]).splitlines() == [
        "| engine | run | figure | client | engine's own | |",
        "|---|---|---|---:|---:|---|",
        "| engine 1.0 | perf | requests | 1 | 1 | equal |",
        "| engine 1.0 | perf | wrong | 2 | 1 | DIFFERS |",
        "| engine 1.0 | perf | latency | 70.0 | 60.0 | +10.0 |",
        "| engine 1.0 | perf | unknown | 1.0 | - | not stated |",
        "",
        "engine: perf: exit 4",
    ]
    assert has_failed({"rows": made_rows, "steps": []})
    assert not has_failed({"rows": made_rows[::2], "steps": []})


def test_every_version_of_an_engine_is_pinned() -> None:
    """Each line of an environment's file is name==version, and every server has steps."""
    lines = [line for file in Path(HERE).glob("*.txt") for line in file.read_text().splitlines()]
    assert all(line.count("==") == 1 for line in lines)
    assert all(server.steps for engine in ENGINES.values() for server in engine.SERVERS)
