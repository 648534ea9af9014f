"""Reports on the terminal: commands in their text can be typed as they stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.cli.terminal.show import print_as
from loadgen.sessions.formats import JSON
from loadgen.sessions.run.report_of_log import make_report
from reporter.report import Finding

if TYPE_CHECKING:
    import pytest


def test_commands_name_the_run(a_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the place of `RUN`, quoted for a shell; the report in JSON does not depend on its folder."""
    finding = Finding("interrupted", "error", "It ended.", "Run `loadgen resume RUN` to finish; RUN stays.")
    report = replace(make_report(a_run, None), findings=[finding])
    print_as("report", "text", report, run=Path("runs/my run"))
    assert "`loadgen resume 'runs/my run'` to finish; RUN stays." in " ".join(capsys.readouterr().out.split())
    print_as("report", JSON, report, run=Path("runs/my run"))
    assert "`loadgen resume RUN` to finish" in capsys.readouterr().out
