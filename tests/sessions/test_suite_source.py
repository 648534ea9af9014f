"""A suite's file: TOML or YAML, the line of each value, and the messages for an invalid file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.driver.errors import PlanError
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.series.suite.matrix import Choice, matrix
from loadgen.sessions.series.suite.mistakes import suite_of
from loadgen.sessions.series.suite.source_lines import MOST_BYTES, read

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.run.preparation import Prepared

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
        ("s.toml", "a = " + "[" * 5000, "is not TOML: line 1: nested deeper than 32"),
        ("s.toml", f"{'.'.join('a' * 20_000)} = 1", "is not TOML: line 1: nested deeper than 32"),
        ("s.toml", f"a = 1\nb = {'9' * 5000}", "line 2: a number of 5,000 characters is too long"),
        ("s.yaml", "a: [1", ":1: not YAML"),
        ("s.yaml", "a: 1\na: 2", ":2: not YAML: the key 'a' stands twice"),
        ("s.yaml", "a: &x 1\nb: *x", "no aliases"),
        ("s.yaml", "a: {}\nb:\n  <<: {c: 1}", ":3: not YAML: '<<' cannot be a key"),
        ("s.yaml", "? [a]\n: 1", ":1: not YAML: a sequence cannot be a key"),
        ("s.yaml", "a: 2026-99-99", "cannot be read"),
        ("s.yaml", "a: !!python/name:os.system x", "is not YAML|not YAML"),
        ("s.yaml", "- a", "a suite has keys at the top"),
        ("s.yaml", "[" * 1500, ":1: not YAML: nested deeper than 32"),
        ("s.yaml", f"a: 1\nb: 0x{'f' * 5000}", ":2: not YAML: a number of 5,002 characters is too long"),
        ("s.yaml", "a: !!int ''", ":1: not YAML: '' cannot be read as int"),
        ("s.yaml", "a: !!bool x", ":1: not YAML: 'x' cannot be read as bool"),
    ],
)
def test_an_invalid_suite_is_refused(tmp_path: Path, name: str, text: str | bytes, complaint: str) -> None:
    """In a sentence with the file, and the line where there is one."""
    path = written(tmp_path, name, text)
    with pytest.raises(UsageError, match=complaint) as refused:
        read(path)
    assert str(refused.value).startswith(str(path))


def test_a_missing_file_is_refused_with_the_command_that_creates_one(tmp_path: Path) -> None:
    """The message names the command."""
    with pytest.raises(UsageError, match=r"does not exist; `loadgen init .*s\.toml` writes"):
        read(tmp_path / "s.toml")
    (tmp_path / "d.toml").mkdir()
    with pytest.raises(UsageError, match="is not a file"):
        read(tmp_path / "d.toml")


def test_an_empty_yaml_file_has_no_tables(tmp_path: Path) -> None:
    """Like an empty TOML file; missing tables are reported where they are needed."""
    assert read(written(tmp_path, "s.yaml", "")).tables == read(written(tmp_path, "s.toml", "")).tables == {}


def test_a_system_prompt_is_looked_for_next_to_the_suite(tmp_path: Path) -> None:
    """As every file that a suite names; an absolute path stays one."""
    prompt = written(tmp_path, "prompt.txt", "Be brief.\n")
    for name in ("@prompt.txt", f"@{prompt}"):
        path = written(tmp_path, "s.toml", f'[[models]]\nname = "m"\nsystem_prompt = "{name}"')
        assert suite_of(read(path)).models[0].system_prompt == "Be brief."
    path = written(tmp_path, "s.toml", '[[models]]\nname = "m"\nsystem_prompt = "@no.txt"')
    with pytest.raises(
        UsageError, match=r":3: \[\[models\]\] 1 \(m\) system_prompt: .*no\.txt cannot be read"
    ):
        suite_of(read(path))


@pytest.mark.parametrize(
    "line",
    ['corpus = "a\\u0000"', 'trace = "a\\u0000"', f"requests = {'9' * 99}", f"requests = '{'9' * 400}'"],
)
def test_values_that_no_option_takes(tmp_path: Path, line: str) -> None:
    """A NUL character and a number of any length are explained."""
    path = written(tmp_path, "s.toml", f'[[models]]\nname = "m"\nurl = "http://h"\n{line}')
    with pytest.raises((UsageError, PlanError), match=r"NUL character|about 10\^(99|400): must be from 1"):
        prepared(path)


def prepared(path: Path) -> Prepared:
    """The first run of a suite, ready to be started."""
    source = read(path)
    return prepare(matrix(source, suite_of(source), (), Choice())[0].settings)
