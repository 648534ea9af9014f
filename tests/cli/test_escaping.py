"""What others say (a server, a model, a dataset) cannot steer a terminal and is not run as a formula."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.cli import sql
from loadgen.cli.check import print_json, printer
from loadgen.sessions.errors import printable
from loadgen.sessions.files.run_folder import new_run_folder
from loadgen.sessions.run.endpoint_checks import CheckLine
from loadgen.sessions.sql_query import csv_lines, json_lines
from reporter.log.query import QueryResult

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "\x1b[2J\x1b[31mred",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]0;title\x07",
    "\x9b2J\x9d8;;http://evil.example\x9c",
    "\u202eright to left\u2066isolated\u200bnothing\ufeff",
    "a\rb\bc\x7fd\x00e\u2028f",
    "[red]markup[/red]",
    "=cmd|' /C calc'!A0",
]
STEERING = (
    "".join(map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0)])) + "\u202e\u2066\u200b\u2028\ufeff"
)


def steers(text: str) -> set[str]:
    """The characters in it that no terminal should get."""
    return set(text) & set(STEERING)


ANSWER = QueryResult([f"c {HOSTILE[0]}"], [(text,) for text in HOSTILE])


@pytest.mark.parametrize("terminal", [True, False])
def test_no_answer_of_sql_steers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    """As a table or as JSON, on a terminal or not; and there is no markup."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    sql._print_table(ANSWER, expanded=False)
    for output in (capsys.readouterr().out, "".join(json_lines(ANSWER))):
        assert steers(output) == set()
        assert "[red]markup[/red]" in output


def test_json_is_exact() -> None:
    """What is escaped is still the same text."""
    assert [next(iter(json.loads(line).values())) for line in json_lines(ANSWER)] == HOSTILE


def as_csv(*values: Any, raw: bool = False) -> list[str]:
    """The cells of a column."""
    answer = QueryResult(["c"], [(value,) for value in values])
    text = "".join(csv_lines(answer, raw=raw, clean=False))
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]


@pytest.mark.parametrize("sign", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"])
def test_no_text_is_a_formula(sign: str) -> None:
    """An apostrophe stands before each that would be one; `--raw` leaves it as it is."""
    text = f"{sign}SUM(A1)"
    assert as_csv(text) == [f"'{text}"]
    assert as_csv(text, raw=True) == [text]


def test_numbers_stay_numbers() -> None:
    """Also those that are texts."""
    numbers = [-1, -1.5, 2**70, "-1", "+1.5", "-1e-3"]
    assert as_csv(*numbers) == [str(number) for number in numbers]
    assert as_csv("-1+1", "--1", "-", "-1e", "1") == ["'-1+1", "'--1", "'-", "'-1e", "1"]


def test_a_heading_is_not_a_formula() -> None:
    """The query names it, and the query may come from anywhere."""
    assert list(csv_lines(QueryResult(["=1+1"], []), raw=False, clean=False)) == ["'=1+1\n"]


@given(text=st.text())
def test_no_csv_on_a_terminal_steers(text: str) -> None:
    """In a file it is exact, on a terminal it is for the eye."""
    lines = csv_lines(QueryResult(["c"], [(text,)]), raw=False, clean=True)
    assert steers("".join(lines)) == set()


@pytest.mark.parametrize("as_json", [True, False])
def test_no_answer_of_check_steers(capsys: pytest.CaptureFixture[str], *, as_json: bool) -> None:
    """Model names and messages are the server's."""
    lines = [CheckLine("model", "warning", text) for text in HOSTILE]
    if as_json:
        print_json(lines)
    else:
        list(map(printer([]), lines))
    assert steers(capsys.readouterr().out) == set()


@given(text=st.text())
def test_no_message_steers(text: str) -> None:
    """Whatever it quotes; lines may end."""
    assert steers(printable(text)) == set()


@pytest.mark.parametrize(
    "model",
    [
        "../../etc/passwd",
        "..",
        "/",
        "a/../..",
        "\x1b[2J",
        "\u202e",
        "C:\\x",
        "~root",
        "$(touch x)",
        "-rf",
        "x" * 999,
        ".",
    ],
)
def test_a_model_s_name_is_a_folder_inside_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """One part of a path, of plain letters, whatever the name is."""
    monkeypatch.chdir(tmp_path)
    folder = new_run_folder(None, model)
    assert str(folder.parent) == "runs"
    assert folder.name.replace(".", "").replace("_", "").replace("-", "").isalnum()
    assert len(folder.name) < 100
