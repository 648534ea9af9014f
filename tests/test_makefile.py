"""The Makefile: what a target installs is what that target needs."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


BFCL_SERVICES = "bfcl-eval==2026.3.23"


@pytest.mark.parametrize(
    ("target", "installed"), [("demo", ["."]), ("wheel", []), ("test", ["'.[dev]'", BFCL_SERVICES])]
)
def test_what_a_target_installs(tmp_path: Path, target: str, installed: list[str]) -> None:
    """A demo needs the package alone, and a wheel only what pip fetches to build it."""
    printed = subprocess.run(
        [shutil.which("make") or "make", "--dry-run", target, f"VENV={tmp_path}/venv"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f" -m venv {tmp_path}/venv\n" in printed
    lines = [line for line in printed.splitlines() if " pip install " in line]
    assert [line.rpartition(" ")[2] for line in lines] == installed
