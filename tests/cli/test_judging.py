"""The report that is laid beside the log."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import orjson
import pytest

from cli.errors import told
from cli.judging import write_report

if TYPE_CHECKING:
    from pathlib import Path


def test_what_a_killed_one_left_behind_is_in_nobodys_way(
    a_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a container every process may have the same id."""
    left = a_run / f"report.{os.getpid()}.tmp"
    left.write_text("half a rep")
    (a_run / "report.json").unlink()
    write_report(a_run, None)
    assert capsys.readouterr().err == ""
    assert orjson.loads((a_run / "report.json").read_bytes())["counts"]["completed"] == 10
    assert left.read_text() == "half a rep"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EIO, "the output, or a file, cannot be read or written"),
        (errno.EFBIG, "the output, or a file, cannot be read or written"),
        (errno.ENOSPC, "the output cannot be written"),
    ],
)
def test_an_error_without_a_name_may_be_of_any_file(number: int, said: str) -> None:
    """Unless it says that there is no room, which is what reading does not need."""
    assert told(OSError(number, "Trouble")) == f"{said} (Trouble)"
