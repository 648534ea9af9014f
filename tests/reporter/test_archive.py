"""An archive is read as its log is: the same report and views, whatever the log has, or a clear error."""

from __future__ import annotations

import json
import shutil
import sys
from array import array
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.errors import LogError
from recorder.lock import Hold
from recorder.session import Session
from reporter import MetricsReporter
from reporter.archive import write
from reporter.archive.write import archive
from reporter.log.all_events import rows
from reporter.log.database import open_log
from reporter.log.query import VIEWS, query
from reporter.log.settings import head
from reporter.log.storage_place import place
from reporter.log.tables import BIG_TABLES
from reporter.stored_answers import texts_of
from tests.object_stores import BUCKET, SECRET
from tests.reporter.conftest import BASE_NS, WALL_NS
from tests.reporter.sharding import sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run


@pytest.fixture(scope="module")
def run(a_run: Callable[..., Run]) -> Run:
    """Requests with texts, whose names are ids or not, a failure, and an episode with a tool."""
    run = a_run(kind="constant", rate=50)
    for number in range(5):
        at_ms = 20.0 * number
        run.answers(
            *(at_ms + 5, at_ms + 9.5),
            at_ms=at_ms,
            complete=at_ms + 15,
            usage=(7, 2),
            uuid=f"{number:032x}" if number % 2 else f"Request {number}",
            texts={"output": "schön " * number},
            issue={"prompt": {"prompt": f"question {number}"}},
        )
    run.fails(at_ms=110, failed=118)
    run.session(
        EventType.TOOL_CALLED, 50, conversation="c", turn=0, name="ls", started_ns=BASE_NS, duration_ns=5
    )
    run.session(EventType.TELEMETRY, 60, source="client", worker=0, in_flight=1, loop_lag_max_ms=0.5)
    return run.stops(120).ends(130)


def scored_later(folder: Path) -> None:
    """A segment of scoring, after a restart of the machine."""
    segment = Session("", 5, WALL_NS + 10**12, {}, {"kind": "scoring"}, "another boot")
    store = reopen(folder / "events.db", segment)
    store.append([schema.row(Event(EventType.SCORING_STARTED, 10, None, {"pass": 1, "scorers": []}))])
    store.close()


def contents(place: Path) -> tuple[object, ...]:
    """What is read of a log or of its archive: the report, every view, every event, the head, and texts."""
    with MetricsReporter(place) as reporter:
        report, log = reporter.create_report(), reporter.log
        log.load(BIG_TABLES)
        views = {view: sorted(map(str, log.execute(f"FROM {view}").fetchall())) for view in VIEWS}
        seqs = [seq for (seq,) in log.execute("SELECT seq FROM events").fetchall()]
    with texts_of(place) as texts:
        return report, views, list(rows(place)), head(place), texts(seqs)


@pytest.fixture(scope="module")
def folder(run: Run) -> Path:
    """The folder of the run, which no test changes."""
    return run.write()


@pytest.fixture(scope="module")
def contents_of_log(folder: Path) -> tuple[object, ...]:
    """What is read of the run's log."""
    return contents(folder)


def test_an_archive_is_read_as_its_log(run: Run, folder: Path, tmp_path: Path) -> None:
    """Also where the log was scored later, after a restart, and in as many parts as it takes."""
    folder = shutil.copytree(folder, tmp_path / "run")
    scored_later(folder)
    progress = []
    whole = archive(folder, tmp_path / "whole", "1.0", progress.append)
    assert [log.events for log in whole.logs] == [len(run.events) + 1]
    assert (progress[-1].step, progress[-1].events) == ("check", progress[-1].of_events)
    expected = contents(folder)
    assert contents(tmp_path / "whole") == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "PART_EVENTS", 1)
        archive(folder, tmp_path / "parts", "1.0")
    assert contents(tmp_path / "parts") == expected


@pytest.mark.slow
def test_an_archive_of_shards_is_read_as_they_are(run: Run, tmp_path: Path) -> None:
    """Each node's log is in it, with its clock."""
    (tmp_path / "run").mkdir()
    folder = sharded(
        replace(run, folder=tmp_path / "run"), {"a": 10**15, "b": -(10**18)}, lambda uuid: "ab"[len(uuid) % 2]
    )
    whole = archive(folder, tmp_path / "archive", "1.0")
    assert [log.node for log in whole.logs] == [None, "a", "b"]
    assert contents(tmp_path / "archive") == contents(folder)
    shutil.move(tmp_path / "archive", folder / "archive")
    shutil.rmtree(folder / "shards")
    (folder / "events.db").unlink()
    assert query(folder, "SELECT count(DISTINCT node) FROM samples").rows == [(2,)]


def test_an_unfinished_archive_is_not_read(folder: Path, tmp_path: Path) -> None:
    """Until every event was compared there is no archive, and the next attempt starts from nothing."""
    place = tmp_path / "archive"
    killed = KeyboardInterrupt()

    def die(*_: object) -> None:
        raise killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "_check", die)
        with pytest.raises(KeyboardInterrupt):
            archive(folder, place, "1.0")
    assert list(place.glob("events/*/*.parquet"))
    with pytest.raises(LogError, match="not a run folder"):
        query(place, "SELECT 1")
    archive(folder, place, "1.0")
    assert list(rows(place)) == list(rows(folder))
    with pytest.raises(LogError, match="an archive is there already; choose another place"):
        archive(folder, place, "1.0")


def test_what_was_written_is_compared_with_the_log(folder: Path, tmp_path: Path) -> None:
    """An event that is missing in the archive, or another one, is found before anybody deletes the log."""
    whole_part = write._file

    def half(there: write.Place, name: str, part: object, database: object) -> object:
        return whole_part(there, name, part.slice(1), database)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "_file", half)
        with pytest.raises(LogError, match="keep the log, and archive it again"):
            archive(folder, tmp_path / "archive", "1.0")
    assert not (tmp_path / "archive" / "archive.json").exists()


def test_a_damaged_archive_is_an_error(folder: Path, tmp_path: Path) -> None:
    """A file that is missing or shorter is named: no report covers a part of a run."""
    place = tmp_path / "archive"
    archive(folder, place, "1.0")
    (part,) = place.glob("events/*/*.parquet")
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    with pytest.raises(LogError, match=r"part-00000\.parquet is \d+ bytes instead of \d+"):
        query(place, "SELECT 1")
    part.unlink()
    with pytest.raises(LogError, match=r"part-00000\.parquet is missing"):
        query(place, "SELECT 1")
    (place / "archive.json").write_bytes(b'{"version": 99}')
    with pytest.raises(LogError, match="format 99, this version reads up to 1; upgrade llm-loadgen"):
        query(place, "SELECT 1")
    (place / "archive.json").write_bytes(b"{}")
    with pytest.raises(LogError, match="the archive is damaged"):
        query(place, "SELECT 1")


@pytest.fixture(scope="module")
def an_archive(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of the run."""
    place = tmp_path_factory.mktemp("archive") / "archive"
    archive(folder, place, "1.0")
    return place


WRONG: dict[str, Any] = {
    "version": "1",
    "logs": {"0": {}},
    "archive_bytes": None,
    "logs.0.files": {},
    "logs.0.files.0": ["name"],
    "logs.0.files.0.name": "../../etc/passwd",
    "logs.0.files.0.size": "9",
    "logs.0.tables": [],
    "logs.0.tables.session": {},
    "logs.0.tables.session.0": ["id"],
    "logs.0.tables.session.0.1": 2**64,
    "logs.0.tables.session.0.2": 1.5,
    "logs.0.tables.session.0.3": {},
    "logs.0.tables.sittings.0.1": "1",
    "logs.0.tables.event_types.0.0": True,
    "logs.0.events": -(2**70),
}


@pytest.mark.parametrize("place", WRONG)
def test_a_manifest_with_a_value_of_another_type_is_damaged(
    an_archive: Path, tmp_path: Path, place: str
) -> None:
    """Any change, for any reader."""
    copy = Path(shutil.copytree(an_archive, tmp_path / "copy"))
    manifest = json.loads((copy / "archive.json").read_text())
    *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    holder: Any = manifest
    for part in path:
        holder = holder[part]
    holder[last] = WRONG[place]
    (copy / "archive.json").write_text(json.dumps(manifest))
    for read in (head, open_log):
        with pytest.raises(LogError, match=r"the archive is damaged: its archive\.json \("):
            read(copy)


def test_a_file_of_events_with_other_columns_is_damaged(an_archive: Path, tmp_path: Path) -> None:
    """The error names the column."""
    copy = Path(shutil.copytree(an_archive, tmp_path / "copy"))
    (part,) = copy.glob("events/*/*.parquet")
    table = pq.read_table(part)
    place = table.schema.get_field_index("at_ns")
    pq.write_table(table.set_column(place, "at_ns", table["at_ns"].cast(pa.float64(), safe=False)), part)
    manifest = json.loads((copy / "archive.json").read_text())
    manifest["logs"][0]["files"][0]["size"] = part.stat().st_size
    (copy / "archive.json").write_text(json.dumps(manifest))
    with pytest.raises(LogError, match="events have DOUBLE in at_ns in place of BIGINT"):
        open_log(copy)


def test_only_a_run_that_is_over_is_archived_where_there_is_room(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is being written, and a place with other files, are refused."""
    hold = Hold(folder)
    with pytest.raises(LogError, match="being written; archive it when it is over"):
        archive(folder, tmp_path / "archive", "1.0")
    hold.release()
    (tmp_path / "mine" / "events").mkdir(parents=True)
    with pytest.raises(LogError, match="not part of an archive; choose another place"):
        archive(folder, tmp_path / "mine", "1.0")
    for address, message in (
        ("s3://", "has a bucket"),
        ("s3://key:secret@bucket/x", "in the environment"),
        ("az://key:secret@bucket/x", "name a folder, s3://BUCKET/PREFIX or gs://"),
    ):
        with pytest.raises(LogError, match=message) as refused:
            archive(folder, address, "1.0")
        assert "secret" not in str(refused.value)
    monkeypatch.setitem(sys.modules, "fsspec.implementations.arrow", None)
    with pytest.raises(LogError, match=r"needs? fsspec.*pip install 'llm-loadgen\[object-store\]'"):
        archive(folder, "s3://bucket/x", "1.0")


@pytest.mark.slow
def test_an_archive_in_an_object_store(
    folder: Path, contents_of_log: tuple[object, ...], bucket: str, tmp_path: Path
) -> None:
    """It is written there and read there; what a store refuses is said without credentials."""
    archive(folder, f"{bucket}/one", "1.0")
    place = type(tmp_path)(f"{bucket}/one")
    with MetricsReporter(place) as reporter:
        of_archive = (reporter.create_report(), list(rows(place)), head(place))
    report, _, events, opening, _ = contents_of_log
    assert of_archive == (report, events, opening)
    assert query(place, "SELECT count(*) FROM outputs").rows == [(5,)]
    nowhere = bucket.replace(BUCKET, "no-such-bucket", 1)
    with pytest.raises(LogError, match=f"{nowhere}/one: ") as refused:
        archive(folder, f"{nowhere}/one", "1.0")
    assert SECRET not in str(refused.value)
    with pytest.raises(LogError, match="no archive is there"):
        query(type(tmp_path)(f"{bucket}/two"), "SELECT 1")


@pytest.mark.slow
def test_gaps_that_are_not_numbers_are_left_out(a_run: Callable[..., Run], tmp_path: Path) -> None:
    """Bytes that are not whole numbers are read as no gaps from the archive too."""
    run = a_run().answers(10, 20, chunk_gaps_us=array("I", [1]).tobytes()[:3]).answers(30, 50).ends()
    folder = run.write()
    archive(folder, tmp_path / "archive", "1.0")
    gaps = "SELECT sample_uuid, gap_ms FROM chunks ORDER BY ALL"
    assert query(folder, gaps).rows == query(tmp_path / "archive", gaps).rows
    assert list(rows(folder)) == list(rows(tmp_path / "archive"))


def test_a_full_disk_is_named_with_what_to_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the full disk of the archive's folder; the next archive replaces the part written."""
    monkeypatch.setattr(write, "place", lambda named: replace(place(named), filesystem=_Full()))
    with pytest.raises(LogError) as refused:
        archive(folder, tmp_path / "archive", "1.0")
    assert str(refused.value) == (
        f"{tmp_path / 'archive'}: the archive cannot be written (No space left on device). Free disk space, "
        "or choose another place with --out; the next archive there replaces what was written"
    )
    monkeypatch.undo()
    archive(folder, tmp_path / "archive", "1.0")
    assert list(rows(tmp_path / "archive")) == list(rows(folder))


class _Full:
    """A filesystem in which each part is written to a full disk."""

    def __init__(self) -> None:
        self._local = fs.LocalFileSystem()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._local, name)

    def open_output_stream(self, name: str) -> Any:
        return self._local.open_output_stream("/dev/full" if name.endswith(".parquet") else name)
