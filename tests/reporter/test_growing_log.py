"""A growing log has for each request the figures that its report will have."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder import EventType, schema
from recorder.errors import LogError
from recorder.session import Session
from recorder.store import Store
from reporter.late_read_bounds import column
from reporter.live.growing_log import EndedRequest, GrowingLog, followed_metrics
from reporter.log.database import open_log
from rulesets.definitions import Definitions
from tests.conftest import EXAMPLES
from tests.for_each import for_each
from tests.reporter.conftest import BASE_NS, WALL_NS
from tests.reporter.sharding import sharded
from tests.reporter.test_bounds_law import logged, requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reporter.log.database import OpenLog
    from tests.reporter.conftest import Run

PLAIN = Definitions()
LENGTHS = ("input_tokens", "output_tokens")


def eventful(run: Run) -> Run:
    """A run of all sorts of requests."""
    run.answers(20, 30, 45, at_ms=5, usage=(7, 3), issue={"scheduled": 2, "about": {"free_ns": 3}})
    run.answers(40, 90, at_ms=10, complete=95, usage=(7, 9), issue={"sent": 12})
    run.answers(50, at_ms=11, usage=(None, 1))
    run.answers(51, 61, at_ms=12, usage=(3, 0))
    run.answers(52, 62, at_ms=12)
    run.answers(at_ms=13, complete=70, usage=(4, 12), stream=False)
    run.answers(53, 63, at_ms=14, usage=(10**9, 2**53)).answers(54, 64, at_ms=14, usage=(5, 101))
    run.answers(55, 65, at_ms=14, usage=(5, 200), issue={"about": {"max_tokens": 200}})
    run.answers(14, 15, at_ms=13, usage=(1, 2), issue={"phase": "warmup"})
    run.fails(at_ms=20, failed=33)
    run.answers(60, at_ms=21, kind=EventType.CANCELLED)
    run.issues(30).happens(EventType.FIRST_CHUNK, 31).happens(EventType.RETRY, 32, attempt=1)
    run.happens(EventType.REQUEST_SENT, 40).happens(EventType.FIRST_CHUNK, 44)
    run.happens(EventType.COMPLETE, 50, status=200, chunks=1, stream=True, first_token_ns=None)
    return run.issues(40)


@contextmanager
def written_in_steps(run: Run, cuts: Sequence[int]) -> Iterator[Callable[[], bool]]:
    """A log, and a function that appends the events up to the next cut and returns whether there was one."""
    session = Session("a session", BASE_NS, WALL_NS, run.settings, run.environment)
    store = Store.create(run.folder / "events.db", session)
    rows = [schema.row(event) for event in run.events]
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    steps = iter([rows[start:end] for start, end in pairwise(edges)])

    def grow() -> bool:
        step = next(steps, None)
        store.append(step or [])
        return step is not None

    try:
        yield grow
    finally:
        store.close()


def followed(run: Run, definitions: Definitions, cuts: Sequence[int]) -> tuple[list[EndedRequest], int]:
    """The requests that ended, as looks at the growing log found them, and how many were issued."""
    ended: list[EndedRequest] = []
    metrics = followed_metrics(definitions)
    with (
        written_in_steps(run, cuts) as grow,
        GrowingLog(run.folder / "events.db", definitions, metrics) as log,
    ):
        while grow():
            ended += log.ended()
        return ended, log.issued


def reported(opened: OpenLog, definitions: Definitions) -> tuple[list[EndedRequest], int]:
    """The same by the views of the report."""
    metrics = sorted(followed_metrics(definitions))
    ends = [
        [name, name] if name in LENGTHS else [column(name, "low"), column(name, "high")] for name in metrics
    ]
    columns = ", ".join(column for pair in ends for column in pair)
    log = opened.with_definitions(definitions)
    rows = log.execute(
        f"SELECT status, token_source, {columns} FROM samples WHERE measured"  # noqa: S608 (ours)
    ).fetchall()
    ended = []
    for status, source, *values in rows:
        pairs = dict(zip(metrics, zip(values[::2], values[1::2], strict=True), strict=True))
        if source != "server_usage":
            # A tokenizer may count what the server did not.
            pairs = {name: pair for name, pair in pairs.items() if name not in {"output_tokens", "tpot"}}
        figures = {name: pair for name, pair in pairs.items() if None not in pair}
        if status != "in_flight":
            ended.append(EndedRequest(status, figures if status == "completed" else {}))
    return ended, len(rows)


def in_order(ended: list[EndedRequest]) -> list[tuple[str, dict[str, Any]]]:
    """Requests in an order that depends on nothing but what is known of them."""
    return sorted(((request.ending, dict(sorted(request.figures.items()))) for request in ended), key=repr)


DEFINITIONS = [
    PLAIN,
    replace(PLAIN, latency_origin="scheduled"),
    replace(PLAIN, latency_origin="issued", tpot_end="complete", tpot_n1="zero"),
    replace(PLAIN, tpot_denominator="n"),
    replace(PLAIN, tpot_denominator="tokens_after_first_chunk"),
    replace(PLAIN, token_source="server_usage"),  # noqa: S106 (who counts, and no secret)
    replace(PLAIN, token_categories=("content",)),
]


@pytest.fixture(scope="module")
def eventful_log(a_run: Callable[..., Run]) -> Iterator[OpenLog]:
    """The log of a run of all sorts of requests."""
    with open_log(eventful(a_run().begins()).write()) as log:
        yield log


@pytest.mark.slow
@for_each("definitions", DEFINITIONS)
def test_the_figures_are_those_of_the_report(
    a_run: Callable[..., Run], eventful_log: OpenLog, definitions: Definitions
) -> None:
    """Of every request that ended, by the same definitions."""
    ended, issued = followed(eventful(a_run().begins()), definitions, [7, 8, 20])
    expected, measured = reported(eventful_log, definitions)
    assert (in_order(ended), issued) == (in_order(expected), measured)
    assert {request.ending for request in ended} == {"completed", "failed", "cancelled"}


@pytest.mark.slow
@settings(max_examples=2 * EXAMPLES, deadline=None)
@given(
    drawn=st.lists(requests(), min_size=1, max_size=6),
    definitions=st.sampled_from(DEFINITIONS),
    cuts=st.lists(st.integers(0, 30), max_size=4),
)
def test_the_figures_in_doubt_are_those_of_the_report(
    a_run: Callable[..., Run], drawn: list[Any], definitions: Definitions, cuts: list[int]
) -> None:
    """However the client stamped the chunks, and wherever the looks cut the log."""
    run = a_run(kind="constant", rate=1.0)
    for number, request in enumerate(drawn):
        logged(run, request, 100.0 * number, truth=False)
    # Requests overlap, so that looks find some of them in flight.
    run.events.sort(key=lambda event: event.at_ns)
    ended, issued = followed(run, definitions, cuts)
    with open_log(run.folder) as log:
        expected, measured = reported(log, definitions)
    assert (in_order(ended), issued) == (in_order(expected), measured)


def test_each_look_reads_what_is_new(a_run: Callable[..., Run]) -> None:
    """A request that is in flight at one look has ended at the next, and is returned once."""
    run = a_run().begins().answers(20, 30, at_ms=5).issues(40, uuid="slow")
    run.happens(EventType.COMPLETE, 90, "slow", status=200)
    with (
        written_in_steps(run, [len(run.events) - 1]) as grow,
        GrowingLog(run.folder / "events.db", PLAIN, {"latency"}) as log,
    ):
        grow()
        assert [request.ending for request in log.ended()] == ["completed"]
        assert (log.issued, log.ended()) == (2, [])
        grow()
        (slow,) = log.ended()
        assert (slow.ending, slow.figures) == ("completed", {"latency": (50.0, 50.0)})
        assert (log.issued, log.ended()) == (2, [])


def test_the_logs_of_nodes_are_followed_as_one(a_run: Callable[..., Run]) -> None:
    """Each from when it is there; a log that is there late or grows makes the figures of the report."""
    run = eventful(a_run().begins())
    folder = sharded(run, {"a": 10**15, "b": -(10**18), "c": 0}, lambda uuid: "ab"[len(uuid) % 2])
    metrics = followed_metrics(PLAIN)
    late, own = folder / "late", folder / "shards"
    shutil.move(own / "b", late)
    with (
        closing(sqlite3.connect(own / "a" / "events.db", isolation_level=None)) as connection,
        GrowingLog(folder / "events.db", PLAIN, metrics) as log,
    ):
        connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM events WHERE seq > 20")
        connection.execute("DELETE FROM events WHERE seq > 20")
        ended = log.ended()
        assert log.awaited == ("b",)
        (own / "b").mkdir()
        (own / "b" / "events.db").touch()  # it is being made
        ended += log.ended()
        assert log.awaited == ("b",)
        (own / "b" / "events.db").unlink()
        shutil.move(late / "events.db", own / "b")
        ended += log.ended()
        assert log.awaited == ()
        connection.execute("INSERT INTO events SELECT * FROM kept")
        ended += log.ended()
        with open_log(folder) as opened:
            expected, measured = reported(opened, PLAIN)
        assert (in_order(ended), log.issued) == (in_order(expected), measured)
    elsewhere = {"a": own / "b" / "events.db"}
    with (
        GrowingLog(folder, PLAIN, metrics, shards=elsewhere) as log,
        pytest.raises(LogError, match="the log of b, in the folder of a"),
    ):
        log.ended()


def test_what_a_tokenizer_counts_cannot_be_followed() -> None:
    """Neither what a tokenizer counts after the run, nor figures of some categories of tokens."""
    assert {"tpot", "output_tokens"} <= followed_metrics(PLAIN)
    for changed in ({"token_source": "client_tokenizer"}, {"token_categories": ("content",)}):
        assert not {"tpot", "output_tokens"} & followed_metrics(replace(PLAIN, **changed))
    assert "tpot" not in followed_metrics(replace(PLAIN, tpot_denominator="tokens_after_first_chunk"))
