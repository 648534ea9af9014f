"""docs/adding-an-arrival-process.md does what it says, and docs/load.md has the table of processes."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from reporter.log.query import query
from tests import golden
from tests.recipe import NO_PLUGINS
from workloads.arrivals import ARRIVAL_PROCESSES

ROOT = Path(__file__).parents[2]
LOAD_PAGE = ROOT / "docs" / "load.md"
BEGIN, END = "<!-- arrivals -->\n", "<!-- /arrivals -->"
FUNCTION, ROW = re.findall(
    r"```python\n(.*?)```", (ROOT / "docs" / "adding-an-arrival-process.md").read_text(), re.DOTALL
)
GENERATED = """
from tests.typed_options import source
from loadgen.sessions.series.suite.schema import schema
from loadgen.sessions.vocabulary import loads
print(source(), schema(), loads())
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages with the page's two blocks in `workloads/arrivals.py`; all other files are links."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("loadgen", "recorder", "reporter", "rulesets", "tests", "docs"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "workloads").mkdir()
    for path in (ROOT / "workloads").iterdir():
        if path.name not in {"arrivals.py", "__pycache__"}:
            (folder / "workloads" / path.name).symlink_to(path)
    text = (ROOT / "workloads" / "arrivals.py").read_text()
    table, row = "ARRIVAL_PROCESSES: Final", '}\n"""By the names of'
    assert text.count(table) == text.count(row) == 1
    text = text.replace(table, f"{FUNCTION}\n\n{table}").replace(row, f"{ROW}{row}")
    (folder / "workloads" / "arrivals.py").write_text(text)
    return folder


def python(checkout: Path, *arguments: str) -> str:
    """The standard output of a Python program in the checkout, which ends with exit code 0."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), **NO_PLUGINS},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_load_runs_with_it(checkout: Path, tmp_path: Path) -> None:
    """`--arrival triangular` issues the positions of the page's function, and the report has its label."""
    run = tmp_path / "run"
    with start_mock() as mock:
        options = ("--rate", "100", "--arrival", "triangular", "--requests", "20", "--seed", "7")
        output = python(
            checkout, *("-m", "loadgen", "perf", "--url", mock.url, "--model", "m", "--no-probe"), *options,
            *("--out", str(run), "--on-invalid", "warn"),
        )  # fmt: skip
    assert "open loop, triangular distances at 100 requests/s" in output
    assert orjson.loads((run / "report.json").read_bytes())["run"]["load"]["kind"] == "triangular"
    due = "SELECT scheduled_ns - started_ns FROM samples JOIN phases USING (phase) ORDER BY 1"
    script = (
        "from itertools import islice; from workloads.arrivals import triangular\n"
        "print(*(round(at * 1e7) for at in islice(triangular(7, 1.0), 20)))"
    )
    positions = [int(index) for index in python(checkout, "-c", script).split()]
    assert [due_ns for (due_ns,) in query(run, due).rows] == positions


def test_everything_generated_has_it(checkout: Path) -> None:
    """Keyword arguments of Python, the schema of suites, the list of loads."""
    keywords, schema, loads = (
        '"uniform", "triangular"] | None',
        "'uniform', 'triangular']",
        "'triangular': '--rate R --arrival triangular'",
    )
    text = python(checkout, "-c", GENERATED)
    assert keywords in text
    assert schema in text
    assert loads in text


@pytest.mark.slow
def test_the_tests_of_schedules_cover_it(checkout: Path) -> None:
    """Its mean and variance, and its schedule: pytest finds the row."""
    file = "tests/driver/test_schedule.py"
    output = python(
        checkout,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        file,
        "-k",
        "triangular and (variance or steps)",
    )
    assert re.search(r"^3 passed", output, re.MULTILINE)


def test_the_page_of_loads_has_the_table() -> None:
    """`make golden` writes it again."""
    golden.check_part(LOAD_PAGE, BEGIN, END, table())


def table() -> str:
    """The processes with the distribution of their distances, and its coefficient of variation."""
    head = "| `--arrival` | distances at unit rate | coefficient of variation |\n|---|---|---|\n"
    rows = (
        f"| `{name}` | {process.distances} | {variation(name)} |\n"
        for name, process in ARRIVAL_PROCESSES.items()
    )
    return head + "".join(rows)


def variation(name: str) -> str:
    """The coefficient of variation; of a process with a burstiness, at two of them."""
    process = ARRIVAL_PROCESSES[name]
    if not process.takes_burstiness:
        return f"{math.sqrt(process.variance(1.0)):.2g}"
    return ", ".join(f"{math.sqrt(process.variance(b)):.2g} at B = {b:g}" for b in (0.25, 4.0))
