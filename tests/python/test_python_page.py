"""The examples of docs/python.md, run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from loadgen.mock_endpoint import start_mock

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
SUITE = next(block for block in BLOCKS if block.startswith("# test_endpoint.py"))


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path) -> None:
    """One after the other, as in a notebook."""
    script = "".join(block for block in BLOCKS if block is not SUITE)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env=_environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "TTFT p99" in done.stdout
    assert "PASS error:rate<1%" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("ttft", "outcome"), [("10ms", "3 passed"), ("1500ms", "1 failed, 2 passed")])
def test_the_suite_gates(tmp_path: Path, ttft: str, outcome: str) -> None:
    """Green on a quick endpoint, red on one that misses its TTFT."""
    (tmp_path / "test_endpoint.py").write_text(SUITE)
    with start_mock(ttft=ttft, itl="2ms", tokens="8") as server:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_endpoint.py"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env=_environment() | {"ENDPOINT": server.url},
        )
    assert outcome in done.stdout


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("LOADGEN", "PYTEST"))}
