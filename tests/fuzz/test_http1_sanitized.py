"""The compiled framing of HTTP/1.1 under sanitizers: no byte is read or written that is not its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus" / "http").iterdir())
ROUNDS = os.environ.get("HTTP1_ROUNDS", "2000")
"""How many mutations of each file are tried."""

FLAGS = ["-g", "-O1", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The harness, compiled with sanitizers."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    built = tmp_path_factory.mktemp("fuzz") / "http1"
    empty = built.with_suffix(".c")
    empty.write_text("int main(void) { return 0; }")
    if subprocess.run([compiler, *FLAGS, "-o", built, empty], check=False, capture_output=True).returncode:
        pytest.skip("needs a C compiler with sanitizers")
    subprocess.run([compiler, *FLAGS, "-Werror", f"-I{ROOT}", "-o", built, HERE / "http1.c"], check=True)
    return built


@pytest.mark.slow
def test_any_bytes_cut_anywhere(program: Path) -> None:
    """The outcome is that of the whole, and nothing is touched beyond it."""
    done = subprocess.run([program, ROUNDS, "1", *CORPUS], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
