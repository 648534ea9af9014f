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
from loadgen.sessions.run.check import CheckLine
from loadgen.sessions.run.run_folder import new_run_folder
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
@pytest.mark.parametrize("form", ["_print_table", "_json"])
def test_no_answer_of_sql_steers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, form: str, *, terminal: bool
) -> None:
    """As a table or as JSON, on a terminal or not; and there is no markup."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    options = {"expanded": False} if form == "_print_table" else {}
    getattr(sql, form)(ANSWER, **options)
    output = capsys.readouterr().out
    assert steers(output) == set()
    assert "[red]markup[/red]" in output


def test_json_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    """What is escaped is still the same text."""
    sql._json(ANSWER)
    lines = capsys.readouterr().out.splitlines()
    assert [next(iter(json.loads(line).values())) for line in lines] == HOSTILE


def as_csv(capsys: pytest.CaptureFixture[str], *values: Any, write: Any = sql._csv) -> list[str]:
    """The cells of a column."""
    write(QueryResult(["c"], [(value,) for value in values]))
    written = capsys.readouterr().out
    return [row[0] for row in csv.reader(io.StringIO(written, newline=""))][1:]


@pytest.mark.parametrize("sign", [*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20"])
def test_no_text_is_a_formula(capsys: pytest.CaptureFixture[str], sign: str) -> None:
    """An apostrophe stands before each that would be one; `--raw` leaves it as it is."""
    text = f"{sign}SUM(A1)"
    assert as_csv(capsys, text) == [f"'{text}"]
    assert as_csv(capsys, text, write=sql._csv_raw) == [text]


def test_numbers_stay_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that are texts."""
    numbers = [-1, -1.5, 2**70, "-1", "+1.5", "-1e-3"]
    assert as_csv(capsys, *numbers) == [str(number) for number in numbers]
    assert as_csv(capsys, "-1+1", "--1", "-", "-1e", "1") == ["'-1+1", "'--1", "'-", "'-1e", "1"]


def test_a_heading_is_not_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    """The query names it, and the query may come from anywhere."""
    sql._csv(QueryResult(["=1+1"], []))
    assert capsys.readouterr().out == "'=1+1\n"


@given(text=st.text())
def test_no_csv_on_a_terminal_steers(text: str) -> None:
    """In a file it is exact, on a terminal it is for the eye."""
    with pytest.MonkeyPatch.context() as patch:
        out = io.StringIO()
        patch.setattr(out, "isatty", lambda: True, raising=False)
        patch.setattr("sys.stdout", out)
        sql._csv(QueryResult(["c"], [(text,)]))
    assert steers(out.getvalue()) == set()


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
