"""The run moment by moment."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pytest

from recorder import EventType
from reporter.windows.run_spans import SpanRow, happenings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def test_a_request_is_in_the_moments_of_its_events(a_run: NewRun) -> None:
    """It is due, is issued and ends, each in its moment; its latency is in the moment of its issue."""
    run = (
        a_run()
        .begins(duration_s=1)
        .answers(150, 250, 349, at_ms=60, complete=350, usage=(1, 6), issue={"scheduled": 40})
    )
    run.fails(at_ms=60, failed=170).issues(150).happens(EventType.CANCELLED, 950, reason="x").stops(1000)
    moments = {round(each.start_s, 3): each for each in run.ends(1000).report().over_time}
    assert list(moments) == [pytest.approx(number / 20) for number in range(20)]
    assert [start_s for start_s, each in moments.items() if each.scheduled] == [0.0, 0.05, 0.15]
    first = moments[0.05]
    assert (first.issued, first.offered_qps, first.answered, first.in_flight) == (2, pytest.approx(20), 1, 2)
    assert (first.latency_p50_ms, first.latency_mean_ms, first.ttft_p99_ms) == (290, 290, 90)
    assert {start_s: each.output_tps for start_s, each in moments.items() if each.output_tps} == {
        0.15: pytest.approx(2 / 0.05),
        0.25: pytest.approx(2 / 0.05),
        0.3: pytest.approx(2 / 0.05),
    }
    assert [start_s for start_s, each in moments.items() if each.completed] == [0.35]
    assert [start_s for start_s, each in moments.items() if each.failed] == [0.15]
    assert [start_s for start_s, each in moments.items() if each.cancelled] == [0.95]
    assert [each.in_flight for each in moments.values()] == [0, *[2] * 2, *[2] * 4, *[1] * 12, 0]


def test_moments_add_up_to_the_run(a_run: NewRun) -> None:
    """Whatever is counted is in one moment, and tokens are where their chunks are."""
    random, run, arrived = Random(3), a_run(), Counter[int]()  # noqa: S311 (figures, not secrets)
    for _ in range(300):
        at_ms = random.uniform(0, 4000)
        chunks = sorted(at_ms + random.uniform(1, 900) for _ in range(random.randrange(1, 9)))
        run.answers(
            *chunks,
            at_ms=at_ms,
            usage=(1, len(chunks)),
            issue={"phase": random.choice(["warmup", "performance"])},
        )
        arrived.update(int(chunk // 50) for chunk in chunks)
    report = run.ends(5000).report()
    moments = report.over_time
    assert 90 <= len(moments) <= 201
    assert sum(each.issued for each in moments) == sum(each.completed for each in moments) == 300
    assert moments[-1].in_flight == 0
    assert sum(each.output_tps * each.duration_s for each in moments) == pytest.approx(sum(arrived.values()))
    origin_s = report.window.start_ns or 0
    assert origin_s > 0
    assert all(each.duration_s == 0.05 for each in moments)


def test_tokens_are_where_their_chunks_are(a_run: NewRun) -> None:
    """To the moment, for many requests that straddle many moments."""
    random, run, arrived = Random(3), a_run().begins(duration_s=10), Counter[int]()  # noqa: S311 (figures, not secrets)
    for _ in range(500):
        at_ms = random.uniform(0, 8000)
        chunks = sorted(at_ms + random.uniform(1, 2000) for _ in range(random.randrange(1, 30)))
        run.answers(*chunks, at_ms=at_ms, usage=(1, 2 * len(chunks)))
        # The log has whole microseconds since the request was sent.
        offsets = [round(chunk * 1e3 - at_ms * 1e3) for chunk in chunks]
        arrived.update(int((at_ms * 1e3 + offset) // 50_000) for offset in offsets)
    moments = run.stops(10_000).ends(10_000).report().over_time
    assert {each.duration_s for each in moments} == {0.05}
    tokens = [round(each.output_tps * each.duration_s / 2) for each in moments]
    assert sum(tokens) == arrived.total()
    assert sum(abs(tokens[place] - arrived[place]) for place in range(len(tokens))) <= 2


@pytest.mark.slow
def test_many_tokens_are_where_their_chunks_are() -> None:
    """Also where many threads read a table of many parts, which come in no order."""
    with duckdb.connect(config={"threads": 8, "preserve_insertion_order": False}) as connection:
        connection.execute(_MANY)
        connection.execute("CREATE TABLE requests AS SELECT *, 'completed' AS status FROM arriving")
        counted = {
            number: round(1e9 * happened["output_tokens"])
            for number, happened in happenings(connection, [SpanRow(0, 0, WIDTH_NS, SPANS)]).items()
        }
        expected = connection.execute(_IN_ORDER).fetchall()
    assert counted == dict(expected)
    assert len(counted) > 500


WIDTH_NS = 1_000_000
SPANS = 1000

_MANY = """
    CREATE TABLE arriving AS
    SELECT
        'completed' AS status,
        request * 1000 AS scheduled_ns,
        scheduled_ns AS issued_ns,
        scheduled_ns AS sent_ns,
        [(31 * request + 7919 * k) % 100_000 for k in range(1 + request % 7)]::UINTEGER[] AS chunk_gaps_us,
        sent_ns + 1000 * chunk_gaps_us[1] AS first_token_ns,
        sent_ns + 1000 * list_sum(chunk_gaps_us)::BIGINT AS last_token_ns,
        last_token_ns AS ended_ns,
        len(chunk_gaps_us) AS arrived_output
    FROM range(300_000) AS requests(request)"""

_IN_ORDER = f"""
    SELECT at_ns // {WIDTH_NS} AS span, 1_000_000_000 * count(*)
    FROM (
        SELECT sent_ns + 1000 * sum(gap_us) OVER (PARTITION BY sent_ns ORDER BY chunk)::BIGINT AS at_ns
        FROM (
            SELECT sent_ns, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk
            FROM arriving
        )
    )
    WHERE at_ns < {WIDTH_NS * SPANS}
    GROUP BY span"""  # noqa: S608 (numbers)


def test_few_requests_make_few_moments(a_run: NewRun) -> None:
    """A short run is not cut into a hundred empty moments; the warm-up is before 0."""
    run = a_run().answers(40, at_ms=0, issue={"phase": "warmup"}).answers(990, at_ms=500)
    moments = run.ends(1000).report().over_time
    assert [each.start_s for each in moments] == [pytest.approx(-0.5 + number / 20) for number in range(20)]


@pytest.mark.parametrize("ended", [True, False])
def test_nothing_issued_has_no_moments(a_run: NewRun, ended: bool) -> None:  # noqa: FBT001 (a case)
    """A run that issued nothing has no moments, and no steady state to look for."""
    run = a_run()
    report = (run.ends() if ended else run).report()
    assert (report.over_time, report.steady_state) == ([], None)
