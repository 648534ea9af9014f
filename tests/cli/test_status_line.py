"""The line that shows how far something is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.cli.terminal.live import StatusLine
from reporter.number_text import bar

if TYPE_CHECKING:
    import pytest


def test_a_terminal_has_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is rewritten, and removed at the end; what was never written is not removed."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with StatusLine() as status:
        status.write("1 of 2")
        status.write("2 of 2")
    assert capsys.readouterr().err == "\r\x1b[2K1 of 2\r\x1b[2K2 of 2\r\x1b[2K"
    with StatusLine():
        pass
    assert capsys.readouterr().err == ""


def test_elsewhere_each_is_its_own_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without control characters, and none where it is quiet or the last one was written just now."""
    monkeypatch.setattr("loadgen.cli.terminal.live.time.monotonic", lambda: now_s[0])
    now_s = [100.0]
    with StatusLine() as status, StatusLine(quiet=True) as quiet:
        for later_s in (0.1, 4.8, 0.2, 3.0):
            now_s[0] += later_s
            status.show(lambda elapsed_s: f"{elapsed_s:.1f} s")
            quiet.show(str)
    assert capsys.readouterr().err == "5.1 s\n"


def test_a_bar() -> None:
    """Its length and the number agree."""
    assert bar(0.5) == "████████████░░░░░░░░░░░░  50 %"
