"""One table of exit codes: the docs, the help and the commands follow it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import orjson

from loadgen.cli import typer_application
from rulesets.exit_codes import PRECEDENCE, ExitCode
from rulesets.verdict import EXIT_CODES

ROOT: Final = Path(__file__).parents[2]
LISTED: Final = [code for code in ExitCode if code is not ExitCode.BROKEN_PIPE]
EXITS: Final = frozenset({"sys.exit", "os._exit", "typer.Exit", "SystemExit", "exit"})


def calls(path: Path) -> list[ast.Call]:
    """The calls in a file that end the process."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) in EXITS]


def test_the_docs_have_the_table() -> None:
    """With what each code means and what a job should do."""
    text = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*?) \| ?(.*?) ?\|$", text.split("## Exit codes")[1], re.MULTILINE)
    assert rows[: len(LISTED)] == [(str(code.value), code.meaning, code.advice) for code in LISTED]
    assert f"the first of {', '.join(str(code.value) for code in PRECEDENCE)} wins" in " ".join(text.split())


def test_the_help_lists_them() -> None:
    """In a line."""
    listed = ", ".join(f"{code.value} {code.label}" for code in LISTED)
    assert f"Exit codes: {listed}." in " ".join(
        Path(typer_application.__file__).read_text(encoding="utf-8").split()
    )


def test_the_quickstart_has_each() -> None:
    """In its own words."""
    text = " ".join((ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8").split())
    sentence = text.partition("Exit codes: ")[2].partition(" ([gate.md]")[0]
    assert [int(part.split()[0]) for part in sentence.split(", ")] == [code.value for code in LISTED]


def test_an_exit_code_is_a_plain_number_in_json() -> None:
    """As summaries have it."""
    assert orjson.dumps({"exit_code": ExitCode.INCONCLUSIVE}) == b'{"exit_code":5}'
    assert str(ExitCode.INTERRUPTED) == "130"


def test_every_verdict_has_one() -> None:
    """The most severe first, as where several apply."""
    assert list(EXIT_CODES.values()) == [code for code in PRECEDENCE if code in EXIT_CODES.values()]


def test_commands_name_their_exit_codes() -> None:
    """No file of the command line has an exit code as a number."""
    ends = [call for path in (ROOT / "loadgen" / "cli").rglob("*.py") for call in calls(path) if call.args]
    assert ends
    codes = [call.args[0] for call in ends]
    assert [code for code in codes if isinstance(code, ast.Constant) and isinstance(code.value, int)] == []


def test_sessions_return_and_raise() -> None:
    """Only the main block of a file that is its own child process ends a process."""
    ends = [
        (path.name, call) for path in (ROOT / "loadgen" / "sessions").rglob("*.py") for call in calls(path)
    ]
    assert [name for name, call in ends if ast.unparse(call.func) != "os._exit"] == ["follower.py"]
