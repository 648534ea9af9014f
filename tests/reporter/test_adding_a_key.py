"""A key of payloads is added by one row, in a copy of the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from reporter.log import requests_table
from tests.conftest import ROOT
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run

COPIED = ("lazy_dataclasses", "recorder", "reporter", "rulesets", "workloads", "docs")
ROWS = """    queued_ns: Moment | None  #: when the server queued the request
    queue_name: Text | None  #: the queue
"""
READ = """
import sys
from pathlib import Path
import duckdb
from reporter.log import requests_table, tables
read = [requests_table.COMPILED]
for requests_table.COMPILED in {requests_table.COMPILED, False}:
    with duckdb.connect() as connection:
        connection.execute("SET VARIABLE unended = 'cut_off'")
        tables.load(connection, Path(sys.argv[1]), tables.TABLES)
        read.append(connection.execute("SELECT queued_ns, queue_name FROM requests ORDER BY ALL").fetchall())
print(__import__("json").dumps(read))
"""
COMPILE = """
from pathlib import Path
from hatch_build import MODULES, _compile
(module,) = [path for path in MODULES if path.parts[0] == "reporter"]
sys.exit(_compile([module.parent / name for name in MODULES[module]], module))
"""


def python(clone: Path, *arguments: str) -> str:
    """The output of Python in the copy, which imports the modules of the copy."""
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=clone,
        env=os.environ | {"PYTHONPATH": str(clone)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.skipif(not requests_table.COMPILED, reason="needs a C compiler")
def test_a_row_adds_a_key(tmp_path: Path, a_run: Callable[..., Run]) -> None:
    """Both joins read a new key, docs/log.md has it, and a module compiled before is not used."""
    run = a_run().answers(50, 60, queued_ns=ns(20), queue_name="short").answers(70, at_ms=10).ends().write()
    clone = tmp_path / "clone"
    for name in COPIED:
        shutil.copytree(ROOT / name, clone / name)
    (clone / "tests").mkdir()
    for path in (*(ROOT / "tests").glob("*.py"), ROOT / "hatch_build.py"):
        shutil.copy2(path, clone / path.relative_to(ROOT))
    table = clone / "recorder" / "payloads.py"
    before, mark, after = table.read_text().partition("    retry_after_s: float | None")
    table.write_text(f"{before}{ROWS}{mark}{after}")
    rows = [[ns(20), "short"], [None, None]]
    assert json.loads(python(clone, "-c", READ, str(run))) == [False, rows]
    python(clone, "-m", "tests.metric_files")
    assert "| `queue_name` | a text | the queue |" in (clone / "docs" / "log.md").read_text()
    python(clone, "-c", f"import sys{COMPILE}")
    assert json.loads(python(clone, "-c", READ, str(run))) == [True, rows, rows]
