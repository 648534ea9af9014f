"""The Makefile: what a target installs is what that target needs."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("target", "is_development"), [("demo", False), ("wheel", False), ("test", True)])
def test_what_a_target_installs(tmp_path: Path, target: str, *, is_development: bool) -> None:
    """A demo and a wheel need the package alone, and not the 2 GB of the extra `dev`."""
    make = ["make", "--dry-run", target, f"VENV={tmp_path}/venv"]
    printed = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    installed = [line for line in printed.splitlines() if " pip install " in line]
    assert next(line.rpartition(" ")[2] for line in installed) == ("'.[dev]'" if is_development else ".")
    assert is_development or len(installed) == 1
