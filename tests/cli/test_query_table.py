"""`loadgen sql` on a terminal and in a pipe: no figure is broken, no column is lost."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.preloaded import Preloaded

    OnTerminal = Callable[..., str]
    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("a_run")

TEN_COLUMNS = (
    "select sample_uuid, status, 1006.88 as ttft_ms, 546.614 as tpot_ms, latency_ms, output_tokens,"
    " input_tokens, finish_reason, error, phase from samples order by sample_uuid limit 2"
)
WIDE = "select status, 123456789 as a, 223456789 as b, 323456789 as c, 423456789 as d from samples limit 1"


@pytest.fixture
def on_terminal(preloaded: Preloaded, tmp_path: Path) -> OnTerminal:
    """What the program prints on a terminal of a width, without colors."""

    def run(columns: int, *arguments: str | Path) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES"}}
        environment |= {"TERM": "xterm"}
        with preloaded.start(*arguments, cwd=tmp_path, env=environment, stdout=theirs) as process:
            os.close(theirs)
            printed = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.returncode == 0
        return re.sub(r"\x1b\[[\d;]*m", "", printed.decode()).replace("\r\n", "\n")

    return run


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's end of a terminal that no process has open any more
        return b""


def test_all_columns_of_samples_are_there(a_run: Path, on_terminal: OnTerminal) -> None:
    """The first query that anybody types has a line for each of its columns, with its value."""
    printed = on_terminal(120, "sql", a_run, "select * from samples limit 1")
    names = [line.split()[0] for line in printed.splitlines()]
    assert names[:2] == ["row", "sample_uuid"]
    assert {"ttft_ms", "latency_from_schedule_ms", "finish_reason"} <= set(names)
    assert len(names) > 60
    assert re.search(r"^sample_uuid +[0-9a-f]{32} *$", printed, re.MULTILINE)
    assert re.search(r"^error +NULL *$", printed, re.MULTILINE)


@pytest.mark.parametrize("columns", [40, 80, 100, 200])
def test_no_figure_is_broken(a_run: Path, columns: int, on_terminal: OnTerminal) -> None:
    """At any width each figure stands on one line."""
    printed = on_terminal(columns, "sql", a_run, TEN_COLUMNS)
    assert printed.count("1006.88") == 2
    assert printed.count("546.614") == 2
    assert printed.count("finish_reason") == (1 if columns == 200 else 2)


def test_columns_that_are_left_out_are_counted(a_run: Path, on_terminal: OnTerminal) -> None:
    """A table that has no room for all columns says how many it has, and how to see all."""
    printed = on_terminal(40, "sql", a_run, WIDE, "--no-expanded")
    assert "223456789" in printed
    assert "323456789" not in printed
    assert "3 of 5 columns shown; -x shows all" in printed
    assert "423456789" in on_terminal(40, "sql", a_run, WIDE, "-x")


def test_rows_that_are_not_shown_are_counted(a_run: Path, on_terminal: OnTerminal) -> None:
    """A terminal shows the first ones, and says how many there are."""
    printed = on_terminal(80, "sql", a_run, "select range as i from range(60)")
    assert "50 of 60 rows shown; --format csv prints all" in printed
    printed = on_terminal(80, "sql", a_run, "select *, range from samples, range(3) limit 30")
    assert "10 of 30 rows shown; -x shows 30, --format csv prints all" in printed


def test_null_is_not_an_empty_text(loadgen: Loadgen) -> None:
    """NULL is written out, an empty text is empty; on a terminal and in a pipe."""
    query = "select NULL as a, '' as b, 1 as c"
    assert loadgen("sql", "run", query).stdout == "a     b  c\nNULL     1\n"
    assert loadgen("sql", "run", query, "-x").stdout == "row 1\na  NULL\nb\nc  1\n"


def test_true_and_false_are_those_of_duckdb(loadgen: Loadgen) -> None:
    """In every format."""
    query = "select false as a, true as b, NULL::boolean as c"
    assert loadgen("sql", "run", query).stdout == "a      b     c\nfalse  true  NULL\n"
    assert loadgen("sql", "run", query, "-f", "csv").stdout == "a,b,c\nfalse,true,\n"
    assert loadgen("sql", "run", query, "--json").stdout == '{"a": false, "b": true, "c": null}\n'


def test_a_pipe_gets_everything_unbroken(loadgen: Loadgen) -> None:
    """Every column and row, each row on one line, however wide it is."""
    piped = loadgen(
        "sql", "run", "select s.*, r.range, repeat('ab ', 99) as t from samples s, range(7) r"
    ).stdout
    assert len(piped.splitlines()) == 1 + 70
    assert len(piped.splitlines()[0].split()) > 60
    assert piped.count("ab " * 98) == 70


def test_nothing_in_a_value_steers_a_terminal(a_run: Path, on_terminal: OnTerminal) -> None:
    """Control characters are shown as their escapes, also in names of columns."""
    query = "select chr(27) || '[2J' as \"a\x1b[2J\", chr(155) || '2J' as b, chr(8238) as c"
    for option in ("-x", "--no-expanded"):
        printed = on_terminal(80, "sql", a_run, query, option)
        assert printed.count(r"\x1b[2J") == 2
        assert r"\x9b2J" in printed
        assert r"\u202e" in printed
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", printed)


def test_large_floats_keep_their_digits(loadgen: Loadgen) -> None:
    """A float from a million on is shown with every digit before its point."""
    assert loadgen("sql", "run", "select 12345678.9::double as x").stdout.split() == ["x", "12345679"]
