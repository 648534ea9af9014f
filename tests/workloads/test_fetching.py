"""Data is fetched once, kept with its checksums, and errors have a remedy."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from workloads import fetching as cache
from workloads.errors import SourceError
from workloads.fetching import fetched, use_cache
from workloads.own_data import SCORERS
from workloads.question import Question
from workloads.question_loading import load
from workloads.sample import Sample
from workloads.task import Task
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOST = "lost.txt"
"""A file that the hub lists and does not have."""

ROWS = b'{"question": "a"}\n{"question": "b"}\n'


class Publisher(ThreadingHTTPServer):
    """As much of the hub as its client asks for: the list of a repository's files, and the files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = files
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    """One answer of a publisher."""

    server: Publisher

    def do_GET(self) -> None:
        """Answer with the list, a file, or 404 as the hub says it."""
        path = urlsplit(self.path).path
        self.server.asked.append(f"{self.command} {path}")
        name = path.rpartition(f"/resolve/{COMMIT}/")[2].removeprefix("/plain/")
        if path.startswith("/api/datasets/org/name"):
            files = [{"rfilename": item} for item in (*self.server.files, LOST)]
            self.answer(json.dumps({"id": "org/name", "sha": COMMIT, "siblings": files}).encode())
        elif name in self.server.files:
            self.answer(self.server.files[name])
        else:
            code = "EntryNotFound" if "/resolve/" in path else "RepoNotFound"
            self.answer(b"{}", 404, {"X-Error-Code": code})

    do_HEAD = do_GET  # noqa: N815 (the library calls it so)

    def answer(self, body: bytes, status: int = 200, more: Mapping[str, str] | None = None) -> None:
        """Send it, with what the hub's client wants to know of a file."""
        self.send_response(status)
        headers = {"Content-Length": str(len(body)), "ETag": f'"{sha256(body).hexdigest()}"'}
        for header, value in {**headers, "X-Repo-Commit": COMMIT, **(more or {})}.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def published(**files: bytes) -> Iterator[Publisher]:
    """A publisher of files; `_` in their names stands for a dot."""
    server = Publisher({name.replace("_", "."): body for name, body in files.items()})
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def to_the_hub(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the hub's client ask another process, as HF_ENDPOINT does."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", url)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


def asked(inputs: Inputs) -> Iterator[Question]:
    """A question a row."""
    for index, row in enumerate(inputs.rows):
        yield Question(str(index), Sample(index, row["question"]), {})


def task(source: Source) -> Task:
    """A benchmark with this source."""
    return Task("quiz", Workload("quiz", "", 1, source, asked, SCORERS), {})


def test_files_of_a_repository(monkeypatch: pytest.MonkeyPatch, refusing: str) -> None:
    """Those that are wanted are fetched at their commit, once; they are kept with their checksums."""
    source = Source(("test.jsonl",), hub="org/name", repository=("*.jsonl",), columns=("question",), rows=3)
    with published(test_jsonl=ROWS, notes_md=b"no data") as hub:
        to_the_hub(hub.url, monkeypatch)
        read = load(task(source))
        assert not [path for path in hub.asked if path.endswith("notes.md")]
    assert [question.sample.prompt for question in read.questions] == ["a", "b"]
    assert read.facts == {
        "files": {"test.jsonl": sha256(ROWS).hexdigest()},
        "source": "org/name",
        "revision": COMMIT,
        "rows": 2,
        "published": 3,
        "notes": [],
    }
    to_the_hub(refusing, monkeypatch)
    assert load(task(source)) == read, "it is stored: no server is asked again"
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SourceError, match=r"needs hugging.*pip install 'llm-loadgen\[hf\]'; or put test"):
        load(task(replace(source, hub="org/other")))


def test_files_in_folders_of_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are found by their own names, and read one after the other as they are asked for."""
    source = Source(("test-*.jsonl",), hub="org/name", repository=("all/test-*.jsonl",))
    with published() as hub:
        hub.files = {
            "all/test-2.jsonl": b'{"question": "c"}\n',
            "all/test-1.jsonl": ROWS,
            "dev-1.jsonl": ROWS,
        }
        to_the_hub(hub.url, monkeypatch)
        read = load(task(source), count=2)
    assert [question.sample.prompt for question in read.questions] == ["a", "b"]
    assert list(read.facts["files"]) == ["all/test-1.jsonl"]
    assert [question.sample.prompt for question in load(task(source)).questions] == ["a", "b", "c"]


def test_files_of_other_publishers() -> None:
    """They are fetched by their addresses."""
    with published(test_csv=b"question\na\n") as site:
        source = Source(("*.csv",), urls=(f"{site.url}/plain/test.csv",))
        read = load(task(source))
        assert load(task(source)) == read
        assert site.asked == ["GET /plain/test.csv"]
        with pytest.raises(SourceError, match=r"quiz: http.*/none.csv cannot be fetched .*404.*--data DIR"):
            fetched("quiz", Source(("*.csv",), urls=(f"{site.url}/plain/none.csv",)))
    assert [question.sample.prompt for question in read.questions] == ["a"]
    assert read.facts["source"] == "urls"


def test_a_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch, refusing: str) -> None:
    """One sentence that says how to do without it; nothing is kept, and nothing is left lying about."""
    to_the_hub(refusing, monkeypatch)
    source = Source(("test.jsonl", "test*.parquet"), hub="org/name", repository=("*",))
    with pytest.raises(SourceError) as caught:
        fetched("quiz", source)
    assert str(caught.value) == (
        "quiz: org/name: the hub of Hugging Face cannot be reached; where there is a network, put test.jsonl "
        "or test*.parquet into a folder, and name it with --data DIR"
    )
    assert [path for path in cache.folder_of("").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("hub", "repository", "message"),
    [
        ("org/other", ("*",), r"the dataset does not exist on the hub.*hf auth login.*--data DIR"),
        ("org/name", ("*.csv",), r"no \*\.csv in it; .*--data DIR"),
        ("org/name", (LOST,), r"quiz: org/name: cannot be fetched \(.*--data DIR"),
    ],
)
def test_what_the_hub_does_not_have(
    hub: str, repository: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dataset that is not there or not open, files that are not there."""
    with published(test_jsonl=ROWS) as site:
        to_the_hub(site.url, monkeypatch)
        with pytest.raises(SourceError, match=message):
            fetched("quiz", Source(("*.csv",), hub=hub, repository=repository))


def test_published_nowhere() -> None:
    """A benchmark whose data can be had from nowhere says which files it wants."""
    with pytest.raises(SourceError, match=r"cannot be fetched from anywhere; put test.jsonl into a folder"):
        fetched("quiz", Source(("test.jsonl",)))


def test_what_is_kept_is_checked() -> None:
    """A file that was changed, or a folder that is not whole, is an error that says what to delete."""
    with published(test_jsonl=ROWS) as site:
        source = Source(("*.jsonl",), urls=(f"{site.url}/plain/test.jsonl",))
        stored = fetched("quiz", source)
    (stored.folder / "test.jsonl").write_bytes(ROWS + ROWS)
    with pytest.raises(
        SourceError, match=f"test.jsonl: not what was fetched.* delete the folder {stored.folder}"
    ):
        load(task(source))
    (stored.folder / ".manifest.json").unlink()
    with pytest.raises(SourceError, match=f"{stored.folder}: no data that was kept whole; delete the folder"):
        load(task(source))


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names both ways out."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    with published(test_jsonl=ROWS) as site:
        source = Source(("*.jsonl",), urls=(f"{site.url}/plain/test.jsonl",))
        with pytest.raises(
            SourceError, match=r"cannot be kept .*Not a directory.*--cache-dir or LOADGEN_CACHE.*--data DIR"
        ):
            fetched("quiz", source)


def test_two_at_once(tmp_path: Path) -> None:
    """Who comes second takes what the other has kept."""

    def fetch(folder: Path) -> str:
        (folder / "a").write_bytes(b"1")
        cache.keep(tmp_path / "data", lambda place: str((place / "a").write_bytes(b"22")))
        return "mine"

    stored = cache.keep(tmp_path / "data", fetch)
    assert stored == cache.stored(tmp_path / "data")
    assert (stored.files, stored.revision) == ({"a": sha256(b"22").hexdigest()}, "2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_a_cache_of_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--cache-dir` and LOADGEN_CACHE name it, before the user's own; it is used again without asking."""
    monkeypatch.setenv("LOADGEN_CACHE", "")  # so that it is put back
    use_cache(str(tmp_path / "mine"))
    with published(test_jsonl=ROWS) as site:
        source = Source(("*.jsonl",), urls=(f"{site.url}/plain/test.jsonl",))
        first = fetched("quiz", source)
    assert first.folder.is_relative_to(tmp_path / "mine")
    assert fetched("quiz", source).folder == first.folder
    assert not (tmp_path / "cache").exists()
