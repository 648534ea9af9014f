"""A run of several machines: one report over all shards, and never silently over half of them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder import EventType, shards
from recorder.errors import LogError
from reporter import MetricsReporter, statements
from reporter.archive.write import archive
from reporter.errors import NoRoomError
from reporter.log import shard_files
from reporter.log.database import open_log
from reporter.log.node_clock import fitted
from reporter.log.query import query
from reporter.log.storage_place import Place, place
from reporter.measured.log_evidence import LogEvidence
from reporter.nodes import NodeReport
from reporter.number_text import NOTHING
from reporter.render import console
from reporter.render import node_table as nodes
from reporter.render.console_page import draw
from rulesets.evaluation import evaluate
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import of_expressions
from tests.conftest import EXAMPLES
from tests.facts_of_runs import run_facts
from tests.reporter.sharding import UNCERTAINTY_NS, sharded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter import Report
    from tests.reporter.conftest import Run

download = Place.download
VIEWS = ("chunks", "outputs", "phases", "measured_window", "arrived")
AHEAD_NS = {"node-0": 0, "node-1": -4_000_000_000_000_000_000, "node-2": 86_400_000_000_123}


@pytest.fixture
def run(a_run: Callable[..., Run]) -> Run:
    """Twelve requests of three nodes, one of which fails."""
    run = a_run(kind="constant", rate=100)
    for number in range(11):
        at_ms = 10.0 * number
        run.answers(
            *(at_ms + 5, at_ms + 9.5, at_ms + 12),
            at_ms=at_ms,
            complete=at_ms + 15,
            usage=(7, 3),
            uuid=f"{number:02}",
            texts={"output": f"answer {number}"},
        )
    run.fails(at_ms=110, failed=118)
    run.session(EventType.TELEMETRY, 60, source="client", worker=0, in_flight=1, loop_lag_max_ms=0.5)
    return run.stops(120).ends(130)


PART = """
    SELECT count(*) FILTER (in_window) / any_value(duration_s), quantile_cont(ttft_ms, 0.99)
    FROM samples, measured_window WHERE measured AND status <> 'failed' AND {node}"""


def by_number(uuid: str) -> str:
    """The node of a request."""
    return f"node-{int(uuid, 36) % 3 if uuid.isalnum() else 0}"


def report_of(folder: Path) -> Report:
    """What the reporter makes of a run."""
    with MetricsReporter(folder) as reporter:
        return reporter.create_report()


@pytest.mark.slow
def test_shards_are_read_as_one_log(run: Run, a_run: Callable[..., Run]) -> None:
    """Clocks apart by a day or a century change no figure and no view."""
    whole = a_run()
    whole.settings, whole.events = run.settings, run.events
    single, many = whole.write(), sharded(run, AHEAD_NS, by_number)
    reports = [report_of(folder) for folder in (single, many)]
    nodes = reports[1].nodes
    assert nodes is not None
    assert [node.node for node in nodes.each] == list(AHEAD_NS)
    assert [node.issued for node in nodes.each] == [6, 3, 3]
    assert nodes.clock_uncertainty_ms == UNCERTAINTY_NS / 1e6
    facts = {"run": run_facts(), "nodes": None, "client": reports[0].client, "recorder": reports[0].recorder}
    assert replace(reports[1], **facts) == replace(reports[0], **facts)
    assert reports[0].to_dict().keys() == reports[1].to_dict().keys() - {"nodes"}
    with open_log(single, ("outputs",)) as of_one, open_log(many, ("events", "outputs")) as of_many:
        for rows in ("SELECT * EXCLUDE (node) FROM samples", *map("FROM {}".format, VIEWS)):
            before, after = (sorted(map(str, log.execute(rows).fetchall())) for log in (of_one, of_many))
            assert before == after, rows
        assert of_one.execute("SELECT DISTINCT node FROM samples").fetchall() == [(None,)]
        placed = of_many.execute("SELECT sample_uuid, node FROM samples").fetchall()
        assert all(by_number(uuid) == node for uuid, node in placed)
        seqs = of_many.execute("SELECT count(*), count(DISTINCT seq) FROM events").fetchall()
        assert seqs[0][0] == seqs[0][1]


@pytest.mark.slow
def test_the_table_of_nodes(run: Run) -> None:
    """A row for each, as its query answers; of many nodes those that need a look come first."""
    folder = sharded(run, AHEAD_NS | {"node-3": 0}, by_number)
    shutil.rmtree(folder / "shards" / "node-2")
    report = report_of(folder)
    answer = query(folder, statements.nodes("linear"))
    assert [NodeReport(*row) for row in answer.rows] == list(report.nodes.each)
    figures = {
        node: query(folder, PART.format(node=f"node = '{node}'")).rows[0] for node in ("node-0", "node-1")
    }
    for node in report.nodes.each[:2]:
        assert (node.qps, node.ttft_p99_ms) == pytest.approx(figures[node.node])
    page = console.render(report, width=140)
    table = page[page.index("Nodes, latencies") :].split("\n\n")[0].splitlines()
    of_second = ["node-1", "3", "26.09", "0", "5.00", "0", "0.500", NOTHING, "4,000,000,000.000000", "0.0200"]
    assert table[3].split() == [*of_second, "completed"]
    assert table[4].split() == ["node-2", "0", NOTHING, "0", *[NOTHING] * 6, "missing"]
    assert "Nodes" not in console.render(replace(report, nodes=None), width=140)
    each = tuple(replace(report.nodes.each[0], node=f"n{n}", ttft_p99_ms=n) for n in range(100))
    many = replace(report.nodes, each=(*each, report.nodes.each[2]))
    rows = draw([nodes.section(replace(report, nodes=many), width=140)], width=140, color=False).splitlines()
    assert "; 30 of 101, by what needs a look" in rows[0]
    assert [row.split()[0] for row in rows[2:5]] == ["node-2", "n99", "n98"]
    assert len(rows) == 2 + 30


@pytest.mark.slow
def test_rates_are_known_to_the_uncertainty_of_the_clocks(a_run: Callable[..., Run]) -> None:
    """Wherever a clock was within it, rates are between their ends; what these decide is left open."""
    run = a_run(kind="constant", rate=100).begins(duration_s=0.1)
    for number in range(12):
        at_ms = 10.0 * number
        chunks = (at_ms + 1 + 3 * chunk for chunk in range(4))
        run.answers(*chunks, at_ms=at_ms, complete=at_ms + 10, usage=(7, 8), uuid=f"{number:02}")
    run.stops(100).ends(130)
    folders, ahead_ns = [], {"a": 0, "b": 10**12}
    for misread_ns in (0, 4_000_000, -4_000_000):
        split = a_run()
        split.settings, split.events = run.settings, run.events
        off = {"b": misread_ns}
        folders.append(sharded(split, ahead_ns, by_parity, misread_ns=off, uncertainty_ns=4_000_000))
    reports = list(map(report_of, folders))
    nodes = reports[0].nodes
    assert nodes is not None
    for metric in ("qps", "output_tps", "total_tps"):
        low, high = getattr(nodes, f"{metric}_low"), getattr(nodes, f"{metric}_high")
        assert all(low <= getattr(report.throughput, metric) <= high for report in reports)
        assert 0 < high - low < 0.5 * high
    assert len({report.throughput.output_tps for report in reports}) > 1
    for asked, status in (
        (nodes.output_tps_low * 0.99, "PASS"),
        (nodes.output_tps_low * 1.01, "INCONCLUSIVE"),
        (nodes.output_tps_high * 0.99, "INCONCLUSIVE"),
        (nodes.output_tps_high * 1.01, "FAIL"),
    ):
        (row,) = evaluate(
            of_expressions([f"output_tps>{asked:.9f}"]), ReportEvidence(reports[0].to_dict())
        ).rows
        assert row.status == status, asked
    assert "by the nodes' clocks" in rule_of(reports[0], f"output_tps>{nodes.output_tps_high * 0.99:.9f}")
    with open_log(folders[0]) as log:
        goodput = of_expressions([f"good(ttft<1s):rate>{nodes.qps_high * 0.99:.9f}"])
        (row,) = evaluate(goodput, LogEvidence(log, reports[0])).rows
    assert (row.status, "by the nodes' clocks" in row.reason) == ("INCONCLUSIVE", True)
    unread = replace(nodes, **dict.fromkeys(("output_tps_low", "output_tps_high")))
    assert "was never compared" in rule_of(replace(reports[0], nodes=unread), "output_tps>1")


def by_parity(uuid: str) -> str:
    """The node of a request, of two."""
    return "ab"[int(uuid) % 2]


def rule_of(report: Report, rule: str) -> str:
    """Why a rule is not decided."""
    (row,) = evaluate(of_expressions([rule]), ReportEvidence(report.to_dict())).rows
    assert row.status == "INCONCLUSIVE"
    return row.reason


def test_any_split_makes_the_same_report(a_run: Callable[..., Run], run: Run) -> None:
    """Whichever node issued what, and whatever the nodes are called."""

    @settings(max_examples=3 * EXAMPLES)
    @given(st.permutations(("a", "b", "c", "d")), st.lists(st.integers(0, 3), min_size=12, max_size=12))
    def same(names: list[str], places: list[int]) -> None:
        split = a_run()
        split.settings, split.events = run.settings, run.events
        uuids = sorted({event.sample_uuid for event in run.events if event.sample_uuid})
        node_of = {uuid: names[place] for uuid, place in zip(uuids, places, strict=True)}
        folder = sharded(split, {name: 10**9 * (2 + place) for place, name in enumerate(names)}, node_of.get)
        report = replace(report_of(folder), run=run_facts(), nodes=None)
        assert report == expected

    expected = replace(
        report_of(sharded(run, dict.fromkeys("abcd", 5), lambda _: "a")), run=run_facts(), nodes=None
    )
    same()


@pytest.mark.slow
def test_a_missing_or_cut_shard_makes_the_run_invalid(run: Run) -> None:
    """The figures are of the nodes that are there, and the report says that this is not the run."""
    folder = sharded(run, AHEAD_NS, by_number)
    shutil.move(folder / "shards" / "node-1", folder / "node-1")
    report = report_of(folder)
    (finding,) = (finding for finding in report.findings if finding.code == "nodes_incomplete")
    assert "the log of node-1 is missing" in finding.message
    assert not report.validity.valid
    assert [node.state for node in report.nodes.each] == ["completed", "missing", "completed"]
    shutil.move(folder / "node-1", folder / "shards" / "node-1")
    cut = run_without_end(folder / "shards" / "node-1" / "events.db")
    assert cut == 1
    report = report_of(folder)
    assert [node.state for node in report.nodes.each] == ["completed", "cut_off", "completed"]
    assert "the log of node-1 is cut off" in report.findings[0].message
    assert not report.validity.valid


def run_without_end(log: Path) -> int:
    """Take the end of a log away; how many events that were."""
    with closing(sqlite3.connect(log, isolation_level=None)) as connection:
        return connection.execute("DELETE FROM events WHERE code = 5").rowcount


def test_a_shard_twice_or_of_another_run_is_an_error(run: Run, a_run: Callable[..., Run]) -> None:
    """Each is named with what to do."""
    folder = sharded(run, AHEAD_NS, by_number)
    placed = folder / "shards"
    shutil.copytree(placed / "node-0", placed / "node-7")
    with pytest.raises(LogError, match="node-7: not a node of this run, which has node-0, node-1, node-2"):
        report_of(folder)
    shutil.rmtree(placed / "node-7")
    shutil.rmtree(placed / "node-1")
    shutil.copytree(placed / "node-0", placed / "node-1")
    with pytest.raises(LogError, match="the log of node-0, in the folder of node-1; move it away"):
        report_of(folder)
    shutil.rmtree(placed / "node-1")
    other = a_run()
    other.environment = shards.shard_environment("node-1", 3)
    shutil.copytree(other.write(), placed / "node-1")
    with pytest.raises(LogError, match="the log of another session than this run's"):
        report_of(folder)


@pytest.mark.slow
def test_shards_in_an_object_store(run: Run, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They make the same report, and are fetched once; a missing or damaged one is noticed."""
    here = report_of(sharded(run, AHEAD_NS, by_number))
    shutil.rmtree(run.folder)
    folder = sharded(run, AHEAD_NS, by_number, bucket)
    fetches = []
    monkeypatch.setattr(
        Place, "download", lambda self, name, to: (fetches.append(name), download(self, name, to))
    )
    assert replace(report_of(folder), run=here.run) == here
    assert query(folder, "SELECT count(DISTINCT node) FROM samples").rows == [(3,)]
    assert [log.node for log in archive(folder, f"{bucket}/archive", "1.0").logs] == [None, *AHEAD_NS]
    assert replace(report_of(type(folder)(f"{bucket}/archive")), run=here.run) == here
    assert fetches == [f"{node}/events.db" for node in AHEAD_NS]

    there = place(bucket)
    home = shards.shard_folder(folder / "shards", "node-1")
    home.mkdir(parents=True)
    there.download("node-1/events.db", home / "events.db")
    there.filesystem.delete_file(there.file("node-1/events.db"))
    assert replace(report_of(folder), run=here.run) == here
    shutil.rmtree(home)
    report = report_of(folder)
    assert [node.state for node in report.nodes.each] == ["completed", "missing", "completed"]
    assert not report.validity.valid

    there.write("node-7/events.db", b"")
    with pytest.raises(LogError, match=f"{bucket}/node-7: not a node of this run"):
        report_of(folder)
    there.filesystem.delete_file(there.file("node-7/events.db"))
    there.write("node-1/events.db", b"half a log")
    with pytest.raises(LogError, match=r"node-1/events\.db: not a SQLite file"):
        report_of(folder)
    monkeypatch.setattr(shard_files, "disk_usage", lambda _: SimpleNamespace(free=1))
    there.write("node-1/events.db", b"another half")
    with pytest.raises(NoRoomError, match=r"node-1 \(12 bytes; 1 are free\); free some, or set TMPDIR"):
        report_of(folder)


def test_the_shard_alone_is_not_the_run(run: Run) -> None:
    """Its figures are those of one node, which the report says."""
    folder = sharded(run, AHEAD_NS, by_number)
    report = report_of(folder / "shards" / "node-2")
    assert not report.validity.valid
    assert "the requests of node-2 alone, one of 3 nodes" in report.findings[0].message


def test_the_clock_of_a_node_is_within_its_uncertainty() -> None:
    """Whatever the drift, up to the greatest, and however bad single readings are."""

    @given(
        st.integers(-(10**15), 10**15),
        st.floats(-shards.MAX_DRIFT_PPM, shards.MAX_DRIFT_PPM),
        st.lists(
            st.tuples(st.integers(0, 600), st.integers(1, 10**7), st.floats(-1, 1)), min_size=1, max_size=9
        ),
    )
    def within(offset_ns: int, ppm: float, stated: list[tuple[int, int, float]]) -> None:
        def true_ns(at_s: int) -> int:
            return offset_ns + round(at_s * 1e3 * ppm)

        readings = [
            shards.ClockReading("n", at_s * 10**9, true_ns(at_s) + int(error * most_ns), most_ns, 2 * most_ns)
            for at_s, most_ns, error in stated
        ]
        clock = fitted(readings)
        assert clock is not None
        assert clock.is_steady
        assert all(abs(true_ns(at_s) - clock.shift_ns) <= clock.uncertainty_ns + 2 for at_s, *_ in stated)
        assert (
            clock.uncertainty_ns
            <= max(most_ns for _, most_ns, _ in stated) * 2 + 600 * 10**3 * shards.MAX_DRIFT_PPM
        )

    within()
    jumped = [
        shards.ClockReading("n", at_ns, offset_ns, 10, 20) for at_ns, offset_ns in ((0, 0), (1000, 10**9))
    ]
    assert not fitted(jumped).is_steady
    assert fitted([]) is None
