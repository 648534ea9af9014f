"""Compiled modules under the address and undefined-behavior sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from hatch_build import MODULES
from tests.conftest import ROOT

_FLAGS: Final = ["-g", "-O0", "-fPIC", "-shared", "-pthread", "-fsanitize=address,undefined"]


def built(module: Path, folder: Path) -> Path:
    """Compile a module of `MODULES` with sanitizers; the test is skipped where that is not possible."""
    compiler, include = shutil.which("cc"), Path(sysconfig.get_path("include"))
    if sys.platform != "linux" or compiler is None or not (include / "Python.h").exists():
        pytest.skip("needs Linux, a C compiler and the headers of Python")
    place = folder / module.name
    sources = [ROOT / module.parent / name for name in MODULES[module]]
    command = [compiler, *_FLAGS, f"-I{include}", "-o", place, *sources]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs a C compiler with sanitizers")
    return place


def run(program: str, *arguments: object) -> None:
    """Run a Python program in which objects come from malloc, so that the sanitizers know their ends."""
    names = [["cc", f"-print-file-name=lib{name}.so"] for name in ("asan", "ubsan")]
    libraries = [subprocess.run(name, check=True, capture_output=True, text=True) for name in names]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(library.stdout.strip() for library in libraries),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1",
        "PYTHONMALLOC": "malloc",
    }
    command = [sys.executable, "-P", "-S", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
