"""A suite's file: TOML or YAML, where each value stands, and what is wrong with a file that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.errors import UsageError
from cli.suite.source import MOST_BYTES, read

if TYPE_CHECKING:
    from pathlib import Path

TOML = """\
[defaults]
url = "http://host"

[[models]]
name = "a"
[[models]]
name = "b"
max-tokens = 8
"""
YAML = """\
defaults:
  url: http://host

models:
  - name: a
  - name: b
    max-tokens: 8
"""
TABLES = {"defaults": {"url": "http://host"}, "models": [{"name": "a"}, {"name": "b", "max-tokens": 8}]}


def written(folder: Path, name: str, text: str | bytes) -> Path:
    """A file of that content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "line"), [("s.toml", TOML, 8), ("s.yaml", YAML, 7), ("s.YML", YAML, 7)]
)
def test_both_formats_say_the_same(tmp_path: Path, name: str, text: str, line: int) -> None:
    """The same tables, each key with its line, whichever of - and _ it is written with."""
    source = read(written(tmp_path, name, text))
    assert source.tables == TABLES
    assert source.lines["models", 1, "max_tokens"] == line
    assert source.lines["defaults", "url"] == 2


def test_an_error_names_file_line_table_and_key(tmp_path: Path) -> None:
    """The table by its number, and by its name where it has one."""
    source = read(written(tmp_path, "s.toml", TOML))
    assert str(source.error(("models", 1, "max_tokens"), "is wrong")) == (
        f"{source.path}:8: [[models]] 2 (b) max_tokens: is wrong"
    )
    assert str(source.error(("defaults",), "is wrong")) == f"{source.path}:1: [defaults]: is wrong"
    assert str(source.error(("models", 1, "headers_env", "X"), "is wrong")).startswith(f"{source.path}:6: ")
    assert str(source.error((), "is wrong")) == f"{source.path}: is wrong"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("s.json", "{}", "a suite is a .toml or a .yaml file"),
        ("s.toml", "[defaults\na = 1", "is not TOML: .*line 1"),
        ("s.toml", "a = 1\na = 2\nb = 3", "is not TOML: .*line 2"),
        ("s.toml", b"\xff", "is not UTF-8 text .byte 0."),
        ("s.toml", " " * (MOST_BYTES + 1), "as no suite does"),
        ("s.toml", "a = " + "[" * 5000, "is nested too deeply|is not TOML"),
        ("s.yaml", "a: [1", ":1: not YAML"),
        ("s.yaml", "a: 1\na: 2", ":2: the key 'a' stands twice"),
        ("s.yaml", "a: &x 1\nb: *x", "no aliases"),
        ("s.yaml", "a: {}\nb:\n  <<: {c: 1}", "'<<' is no key of a suite"),
        ("s.yaml", "? [a]\n: 1", "is no key of a suite"),
        ("s.yaml", "a: 2026-99-99", "cannot be read"),
        ("s.yaml", "a: !!python/name:os.system x", "is not YAML|not YAML"),
        ("s.yaml", "- a", "a suite has keys at the top"),
        ("s.yaml", "[" * 1500, "is nested too deeply"),
    ],
)
def test_what_is_no_suite_is_told(tmp_path: Path, name: str, text: str | bytes, complaint: str) -> None:
    """In a sentence with the file, and the line where there is one."""
    path = written(tmp_path, name, text)
    with pytest.raises(UsageError, match=complaint) as told:
        read(path)
    assert str(told.value).startswith(str(path))


def test_a_file_that_is_not_there_can_be_made(tmp_path: Path) -> None:
    """The message says with what."""
    with pytest.raises(UsageError, match=r"is not there; `loadgen init .*s\.toml` writes"):
        read(tmp_path / "s.toml")
    (tmp_path / "d.toml").mkdir()
    with pytest.raises(UsageError, match="is not a file"):
        read(tmp_path / "d.toml")


def test_an_empty_yaml_file_says_nothing(tmp_path: Path) -> None:
    """As an empty TOML file does; what is missing is told by who needs it."""
    assert read(written(tmp_path, "s.yaml", "")).tables == read(written(tmp_path, "s.toml", "")).tables == {}
