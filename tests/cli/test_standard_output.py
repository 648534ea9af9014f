"""`-` as the file of an option: standard output has that file, and nothing else."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from loadgen.cli.terminal.streams import mend_streams

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("report", "run", "-o", "-"), "small-model at"),
        (("report", "run", "--format", "html", "--output", "-"), "<!DOCTYPE html>"),
        (("report", "run", "--format", "md", "--output=-"), "### "),
        (("gate", "run", "--require", "qps>0", "--markdown", "-"), "### "),
        (("compare", "run", "other", "-o", "-", "--format", "html"), "<!DOCTYPE html>"),
        (("compare", "run", "other", "--markdown", "-"), "### Comparison: "),
    ],
)
def test_a_file_on_standard_output(
    loadgen: Any, a_run: Path, tmp_path: Path, words: tuple[str, ...], begins: str
) -> None:
    """What is printed otherwise goes to standard error, and no file has that name."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "events.db").write_bytes((a_run / "events.db").read_bytes())
    done = loadgen(*words)
    assert done.returncode in {0, 1, 4, 5}, done.stderr
    assert done.stdout.startswith(begins)
    assert not (tmp_path / "-").exists()


def test_junit_on_standard_output(loadgen: Any, a_run: Path, tmp_path: Path) -> None:
    """It can be parsed; the verdict is on standard error."""
    done = loadgen("gate", a_run.name, "--require", "qps>0", "--junit", "-")
    assert ET.fromstring(done.stdout).tag == "testsuites"  # noqa: S314 (our own)
    assert "qps" in done.stderr
    assert not (tmp_path / "-").exists()


def test_two_files_on_standard_output(loadgen: Any, a_run: Path) -> None:
    """One would stand behind the other."""
    done = loadgen("gate", a_run.name, "--require", "qps>0", "--junit", "-", "--markdown", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--junit and --markdown both name standard output" in done.stderr


def test_a_comparison_in_a_file(loadgen: Any, a_run: Path, tmp_path: Path) -> None:
    """In each format, with nothing on standard output."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "events.db").write_bytes((a_run / "events.db").read_bytes())
    done = loadgen("compare", "run", "other", "--format", "html", "-o", "pages/compared.html")
    assert done.stdout == ""
    assert (tmp_path / "pages" / "compared.html").read_text().startswith("<!DOCTYPE html>")
    assert loadgen("compare", "run", "other", "-o", "run/events.db").returncode == 2


def test_one_baseline_run_is_a_reference(loadgen: Any, a_run: Path, tmp_path: Path) -> None:
    """`compare OLD NEW` and `compare NEW --baseline OLD` are one comparison."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "events.db").write_bytes((a_run / "events.db").read_bytes())
    by_place = loadgen("compare", "run", "new", "--json")
    by_name = loadgen("compare", "new", "--baseline", "run", "--json")
    assert json.loads(by_place.stdout) == json.loads(by_name.stdout)


def test_a_character_that_the_encoding_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output escapes the character, as Python does on standard error."""
    written = BytesIO()
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(written, encoding="latin-1"))
    mend_streams()
    sys.stdout.write("± 5 €\n")
    sys.stdout.flush()
    assert written.getvalue() == b"\xb1 5 \\u20ac\n"
