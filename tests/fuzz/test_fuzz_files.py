"""Every reader of files reads valid ones, and says what is wrong with damaged ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz.damage import damage
from tests.fuzz.files import is_explained, passes
from tests.fuzz.readers import READERS

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("prompts", "trace", "ruleset", "suite", "stages")
CASES = 40


@pytest.mark.parametrize(
    "reader", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in READERS]
)
def test_valid_files_are_read(reader: str, tmp_path: Path) -> None:
    """A reader that refuses everything would find nothing."""
    make, read = READERS[reader]
    make(tmp_path, random.Random(1))  # noqa: S311 (damage, not a secret)
    read(tmp_path)


@pytest.mark.parametrize("reader", QUICK)
def test_damaged_files_are_explained(reader: str, tmp_path: Path) -> None:
    """The first cases of the fuzzer: no error is a bug's."""
    make, read = READERS[reader]
    for number in range(CASES):
        rng = random.Random(f"{reader}:{number}")  # noqa: S311 (damage, not a secret)
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder, rng)
        damage(folder, rng)
        assert is_explained(read, folder), f"python tests/fuzz/files.py --case {reader}:{number}"


@pytest.mark.parametrize(
    ("reader", "number"),
    [
        ("trace", 1795949610),
        pytest.param("import_pinchbench", 1795949478, marks=pytest.mark.slow),
        pytest.param("log_follow", 1795949469, marks=pytest.mark.slow),
        pytest.param("log_archive", 57, marks=pytest.mark.slow),
    ],
)
def test_cases_that_were_found(reader: str, number: int) -> None:
    """Times beyond 64 bits, scores with infinite squares, half a character, event codes beyond 16 bits."""
    assert passes(reader, number)
