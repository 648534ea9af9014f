"""How much of the program a small perf run loads."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

from tests.conftest import clean_environment

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

MOST_FILES: Final = 239
MOST_LINES: Final = 32_022
"""The most that is loaded: bounds that only shrink, to 28,000 lines."""

_SMALL_RUN: Final = """
import sys
from pathlib import Path
from loadgen.cli.app import main
url = sys.argv[1]
sys.argv = [
    "loadgen", "perf", "--url", url, "--model", "small-model", "--concurrency", "4", "--requests", "40",
    "--require", "ttft:p(99)<60s", "--on-invalid", "warn", "--server-metrics", "none", "--out", "run",
]
code = main()
rooms = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")
modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in rooms]
files = [file for module in modules if (file := getattr(module, "__file__", None)) and file.endswith(".py")]
lines = sum(len(Path(file).read_text().splitlines()) for file in files)
print("loaded", len(files), lines, *{"typer", "pydantic"} & sys.modules.keys(), file=sys.stderr)
sys.exit(code)
"""


def test_a_small_run_loads_few_files(mock: MockProcess, tmp_path: Path) -> None:
    """A run of 40 requests with one rule loads only used files; neither typer nor a validator."""
    run = subprocess.run(
        [sys.executable, "-c", _SMALL_RUN, mock.url],
        cwd=tmp_path,
        env=clean_environment(LOADGEN_API_KEY="sk-right-key"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    files, lines = map(int, run.stderr.splitlines()[-1].removeprefix("loaded ").split())
    assert files <= MOST_FILES
    assert lines <= MOST_LINES, lines
