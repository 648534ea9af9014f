"""Every command that reads a run reads it from an archive and from shards too, or says why it does not."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from typer.testing import CliRunner

from loadgen.cli.typer_application import application
from loadgen.plugins.viewing.folder import ViewedFolder
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run_list import listed
from recorder.errors import LogError
from recorder.store import LOG_NAME, PAGE_BYTES
from reporter.archive.write import archive
from reporter.log.database import open_log
from reporter.log.query import query
from tests.object_stores import BUCKET, MODULES, object_store
from tests.remembered_logs import StayingOpen, remembered_report, staying_open
from tests.reporter.conftest import Run
from tests.reporter.sharding import sharded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from reporter.log.database import OpenLog

SOURCES = ("archive", "archive of shards", "shards in a store")
INVALID: Final = 4
NODES = {"node-0": 0, "node-1": 10**15}

READING: Mapping[str, tuple[str, ...]] = {
    "report": ("report", "RUN", "--format", "html", "-o", "OUT/page.html"),
    "sql": ("sql", "RUN", "SELECT count(*), count(DISTINCT sample_uuid), max(ttft_ms) FROM samples"),
    "gate": ("gate", "RUN", "--require", "ttft:p(50)<1s", "--require", "output_tokens:mean<9"),
    "compare": ("compare", "OTHER", "RUN"),
    "plot": ("plot", "RUN", "--what", "ttft-cdf", "--json"),
    "watch": ("watch", "RUN", "--wait", "0s"),
    "perfetto": ("export", "RUN", "--perfetto", "OUT/trace"),
    "parquet": ("export", "RUN", "--parquet", "OUT/parquet"),
    "vllm-json": ("export", "RUN", "--vllm-json", "OUT/vllm.json"),
    "openmetrics": ("export", "RUN", "--openmetrics", "-"),
}
"""Commands that read a run."""

REFUSED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "score": (("score", "RUN"), "only read: score the run where its events.db is; --pass N reports"),
    "archive": (("archive", "RUN", "-o", "OUT/copy"), "only read: to have it elsewhere, copy all its files"),
    "resume": (("resume", "RUN"), "is complete: there is nothing to resume"),
}
"""Commands that write to a run's log, and what they say of an archive."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One run, as a log and from each source, by its name."""
    top = tmp_path_factory.mktemp("sources")
    pytest.importorskip(MODULES["gs"])
    with object_store("gs") as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        log, split = filled(top / "log").write(), sharded(filled(top / "shards"), NODES, _node_of)
        shutil.copytree(log, top / "other")
        shutil.copytree(log, top / "archived")
        archive(log, top / "archived" / "archive", "1.0")
        (top / "archived" / LOG_NAME).unlink()
        archive(split, top / "archive-of-shards", "1.0")
        stored = sharded(filled(top / "stored"), NODES, _node_of, f"gs://{BUCKET}/shards")
        places = (log, split, top / "archived", top / "archive-of-shards", stored)
        yield dict(zip(("log", "shards", *SOURCES), map(str, places), strict=True))


def filled(folder: Path) -> Run:
    """Twenty requests with texts."""
    load = {"kind": "constant", "rate": 10.0}
    settings = {"model": "m", "load": load, "requests": 20, "urls": ["http://127.0.0.1:1"]}
    run = Run(folder, settings).begins()
    for number in range(20):
        at_ms = 100.0 * number
        run.answers(
            *(at_ms + 20 + number % 7, at_ms + 30, at_ms + 45),
            at_ms=at_ms,
            usage=(7, 3),
            uuid=f"{number:032x}",
            texts={"output": f"answer {number}"},
            issue={"prompt": {"prompt": f"question {number}"}},
        )
    return run.stops(2000).ends(2100)


def _node_of(uuid: str) -> str:
    return f"node-{int(uuid, 16) % 2}"


def outcome(words: tuple[str, ...], run: str, out: Path, other: str = "") -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    named = {"RUN": run, "OTHER": other}
    result = CliRunner().invoke(
        application(words[0]), [named.get(word, word.replace("OUT", str(out))) for word in words]
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def session_of(run: str) -> str:
    """The id of its session."""
    return str(query(Path(run), "SELECT session_id FROM session").rows[0][0])


class Sources:
    """Sources that are opened once, and whose figures are computed once, for all commands that read them."""

    def __init__(self) -> None:
        self._opened: dict[Path, StayingOpen] = {}

    def open(self, run: Path, also: Collection[str] = ()) -> OpenLog:
        """As `open_log`."""
        if run not in self._opened:
            self._opened[run] = staying_open(open_log(run), run)
        self._opened[run].load(also)
        return self._opened[run]

    def outcomes(self, run: str, out: Path, other: str) -> dict[str, tuple[int, str]]:
        """The exit code and the output of each command that reads a run."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("reporter.reporter.open_for_report", self.open)
            patch.setattr("reporter.validation.compute", remembered_report)
            return {name: outcome(words, run, out, other) for name, words in READING.items()}

    def close(self) -> None:
        """Close what is open."""
        for log in self._opened.values():
            log.forget()


@pytest.fixture(scope="module")
def sources() -> Iterator[Sources]:
    """The sources."""
    with closing(Sources()) as opened:
        yield opened


@pytest.fixture(scope="module")
def of_log(
    runs: dict[str, str], sources: Sources, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[int, str]]:
    """What each command makes of the log."""
    other = str(Path(runs["log"]).with_name("other"))
    return sources.outcomes(runs["log"], tmp_path_factory.mktemp("of-log"), other)


@pytest.mark.slow
# An archive of shards is read as shards are: tests/reporter/test_archive.py.
@pytest.mark.parametrize("source", [name for name in SOURCES if name != "archive of shards"])
def test_commands_read_a_run_from_any_source(
    runs: dict[str, str],
    sources: Sources,
    of_log: dict[str, tuple[int, str]],
    source: str,
    tmp_path: Path,
) -> None:
    """With the exit code that they have for the log; figures of requests are the same."""
    for name, (code, printed) in sources.outcomes(runs[source], tmp_path, runs["log"]).items():
        assert code == of_log[name][0], name
        if name in {"sql", "plot", "openmetrics"}:
            assert printed == of_log[name][1].replace("a session", session_of(runs[source])), name
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:200]
    folder = Path(runs[source])
    assert ViewedFolder(folder.parent).run(folder.name) == folder
    assert folder.name in {run.folder for run in listed(folder.parent)}


@pytest.mark.parametrize("source", [source for source in SOURCES if "archive" in source])
def test_commands_that_write_to_a_log_refuse_an_archive(
    runs: dict[str, str], source: str, tmp_path: Path
) -> None:
    """With their own message."""
    for words, message in REFUSED.values():
        with pytest.raises(UsageError, match=message):
            outcome(words, runs[source], tmp_path)


@pytest.mark.slow
def test_no_command_passes_half_a_run(runs: dict[str, str], tmp_path: Path) -> None:
    """Whether a shard is missing, cut off, or cut short; and an archive says that it is of half a run."""
    half = tmp_path / "half"
    shutil.copytree(runs["shards"], half)
    log = half / "shards" / "node-1" / LOG_NAME
    content = log.read_bytes()
    rules = ("gate", "RUN", "--require", "ttft:p(50)<1s", "--on-invalid", "warn")
    with closing(sqlite3.connect(log, isolation_level=None)) as connection:
        connection.execute("DELETE FROM events WHERE code = 5")
    assert outcome(rules, str(half), tmp_path)[0] == INVALID
    for size in range(0, len(content), PAGE_BYTES):
        log.write_bytes(content[:size])
        with pytest.raises(LogError, match="node-1"):
            outcome(rules, str(half), tmp_path)
    log.unlink()
    code, printed = outcome(("archive", "RUN", "-o", "OUT/archive"), str(half), tmp_path)
    assert code == 0
    assert "Missing logs: node-1. The archive and its reports cover only a part of the run" in printed
    for source in (half, tmp_path / "archive"):
        assert outcome(rules, str(source), tmp_path)[0] == INVALID
        _, compared = outcome(("compare", "OTHER", "RUN"), str(source), tmp_path, runs["log"])
        assert "invalid: The run is incomplete" in " ".join(compared.split())
