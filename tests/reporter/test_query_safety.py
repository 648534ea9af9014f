"""SQL from any source can neither read nor write anything but the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.errors import QueryError
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(a_run: Callable[..., Any]) -> Path:
    """A run with one request."""
    path: Path = a_run().begins().answers(5).stops(9).ends().write()
    return path


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('/proc/self/environ')",
        "SELECT * FROM glob('/etc/*')",
        "COPY samples TO '{other}'",
        "EXPORT DATABASE '{other}'",
        "IMPORT DATABASE '{other}'",
        "ATTACH '{other}' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "CREATE PERSISTENT SECRET s (TYPE s3)",
        "SET enable_external_access = true",
        "SET temp_directory = '{other}'",
        "SET log_query_path = '{other}'",
        "SET profiling_output = '{other}'; SET enable_profiling = 'json'; SELECT 1",
        "CALL enable_logging(storage = 'file', storage_config = {{'path': '{other}'}})",
        "RESET lock_configuration",
        "SELECT * FROM sql",
        "SELECT getenv('HOME')",
    ],
)
def test_nothing_else_can_be_reached(folder: Path, tmp_path: Path, sql: str) -> None:
    """No file, no extension, no setting that leads to one, and no variable of the program."""
    (tmp_path / "file.csv").write_text("secret\n")
    before = sorted(folder.iterdir())
    with pytest.raises(QueryError):
        query(folder, sql.format(file=tmp_path / "file.csv", other=tmp_path / "other"))
    assert sorted(tmp_path.iterdir()) == [tmp_path / "file.csv"]
    assert sorted(folder.iterdir()) == before


def test_what_does_not_leave_it_is_allowed(folder: Path) -> None:
    """Tables of one's own, and the settings that a question may need."""
    sql = "SET threads = 1; SET TimeZone = 'UTC'; CREATE TABLE t AS FROM samples; SELECT count(*) FROM t"
    assert query(folder, sql).rows == [(1,)]
