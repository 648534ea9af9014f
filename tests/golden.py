"""Golden and generated files: `check` compares them, and `make golden` writes all of them again.

A test that compares with `check` needs no further entry: `python -m tests.golden` finds it by the import.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
UPDATE: Final = "UPDATE_GOLDEN"
_IMPORT: Final = re.compile(r"^(from tests import .*\bgolden\b|from tests\.golden import)", re.MULTILINE)


def check(path: Path, text: str) -> None:
    """Compare a file with what it must hold; with UPDATE_GOLDEN=1 in the environment, write it.

    Args:
        path: The file.
        text: What it must hold.
    """
    same = path.exists() and path.read_text(encoding="utf-8") == text
    if not same and os.environ.get(UPDATE) == "1":
        path.write_text(text, encoding="utf-8")  # a header that is written again is compiled again
        same = True
    assert same, f"{path}: is not what the program makes now; `make golden` accepts it"


def check_part(page: Path, begin: str, end: str, part: str) -> None:
    """The same for a part of a page, between two marks that stay."""
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, mark, after = rest.partition(end)
    assert mark, f"{page}: {begin!r} or {end!r} is missing"
    check(page, f"{before}{begin}{part}{end}{after}")


def comparing_tests() -> list[Path]:
    """The tests that compare with `check`: files, and folders whose `conftest.py` has a fixture of it."""
    files = [
        path
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if _IMPORT.search(path.read_text(encoding="utf-8"))
    ]
    return [path.parent if path.name == "conftest.py" else path for path in files]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """As a plug-in of pytest: run the tests that compare, and no others of their files."""
    items[:] = [item for item in items if _compares(item)]


def _compares(item: pytest.Item) -> bool:
    """Whether a test compares: by this module, or by a fixture of the same name."""
    return isinstance(item, pytest.Function) and (
        "golden" in item.function.__code__.co_names or "golden" in item.fixturenames
    )


def main() -> int:
    """Write source files first, for other files are made of what they hold; return the exit code."""
    sources = subprocess.run([sys.executable, "-m", "tests.metric_files"], cwd=ROOT, check=False)
    if sources.returncode:
        return sources.returncode
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.golden", *map(str, comparing_tests())],
        cwd=ROOT,
        env=os.environ | {UPDATE: "1"},
        check=False,
    )
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
