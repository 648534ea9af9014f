"""What `loadgen view` keeps is bounded: rendered reports, threads, and databases."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from loadgen.plugins.viewing import bounded_memory
from loadgen.plugins.viewing.bounded_memory import MOST_REPORTS, ReportPages
from loadgen.plugins.viewing.folder import ViewedFolder
from loadgen.plugins.viewing.pages import Pages
from loadgen.plugins.viewing.queries import LONGEST, first_rows

if TYPE_CHECKING:
    import pytest

OK = 200


def test_reports_are_bounded_in_number_and_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used are dropped; one that is larger than all may be is not kept."""
    pages = ReportPages()
    for number in range(3 * MOST_REPORTS):
        pages.keep(((tmp_path / str(number),), ()), b"page")
        assert pages.get(((tmp_path / "0",), ())) in {b"page", None}
    assert len(pages) == MOST_REPORTS
    assert pages.get(((tmp_path / "0",), ())) == b"page"
    assert pages.get(((tmp_path / "1",), ())) is None
    monkeypatch.setattr(bounded_memory, "MOST_BYTES", 10)
    pages.keep(((tmp_path / "x",), ()), b"12345")
    pages.keep(((tmp_path / "y",), ()), b"12345")
    assert len(pages) == 2
    pages.keep(((tmp_path / "z",), ()), b"12345678901")
    assert len(pages) == 0


def test_long_values_are_cut(a_run: Path) -> None:
    """A thousand texts of a megabyte are not kept; numbers and short texts are as they are."""
    result = first_rows(a_run, "SELECT repeat('x', 1000000), range(100000), 7, 'y' FROM range(50)")
    assert len(result.rows) == 50
    text, numbers, number, short = result.rows[-1]
    assert text == f"{'x' * LONGEST}… (1,000,000 characters)"
    assert numbers.startswith("[0, 1, 2")
    assert (len(numbers) < LONGEST + 50, number, short) == (True, 7, "y")


def _databases() -> int:
    """The open databases of this process."""
    gc.collect()
    return sum(isinstance(thing, duckdb.DuckDBPyConnection) for thing in gc.get_objects())


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_pages_leave_nothing_behind(a_run: Path) -> None:
    """A run that changes has one report; what computed it is closed; two threads compute everything."""
    pages = Pages(ViewedFolder(a_run.parent))
    app = web.Application()
    app.add_routes(pages.routes())

    async def ask(client: TestClient[web.Request, web.Application]) -> None:
        query = "query=SELECT+count(*)+FROM+samples"
        for address in ("/", f"/run/{a_run.name}", f"/sql?run={a_run.name}&{query}"):
            async with client.get(address) as response:
                assert response.status == OK
                await response.read()

    async def main() -> None:
        async with TestClient(TestServer(app)) as client:
            await ask(client)
            before = _databases(), threading.active_count(), _descriptors()
            for number in range(2):
                os.utime(a_run / "events.db", ns=(number, number))
                await asyncio.gather(*(ask(client) for _ in range(4)))
            assert len(pages.reports) == 1
            databases, threads, descriptors = _databases(), threading.active_count(), _descriptors()
            assert databases <= before[0]
            assert threads <= before[1]
            assert descriptors <= before[2] + 2 * 4  # both ends of the connections of the client

    gc.collect()
    gc.freeze()  # the objects of all other tests: a collection follows each answer
    asyncio.run(main())
