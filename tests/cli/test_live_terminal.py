"""The live view of a run on a terminal, as the user sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import termios
from typing import TYPE_CHECKING, Self

import pyte
import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An endpoint that answers in a tenth of a second."""
    with start_mock(ttft="50ms", itl="10ms", tokens="6") as mock:
        yield mock.url


IMPATIENT = {"loadgen.cli.terminal.live:_LINE_S": 0.1}
"""The program writes a line ten times a second, and not every five seconds."""


class Run:
    """A run on a terminal; a context manager that ends it."""

    def __init__(
        self,
        preloaded: Preloaded,
        folder: Path,
        *options: object,
        command: tuple[str, ...] = ("perf", "--model", "m"),
        columns: int = 80,
        **environment: str,
    ) -> None:
        self.screen = pyte.Screen(columns, 24)
        self.sent = b""
        self._stream = pyte.ByteStream(self.screen)
        self._ours, theirs = pty.openpty()
        self.resize(columns)
        self._process = preloaded.start(
            *command,
            *options,
            cwd=folder,
            env=clean_environment(**{"TERM": "xterm", **environment}),
            stdout=theirs,
            stderr=theirs,
            leads_session=True,
            constants=IMPATIENT,
        )
        os.close(theirs)

    def resize(self, columns: int) -> None:
        """Change the terminal's width."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def shows(self, holds: Callable[[list[str]], bool]) -> bool:
        """Read until something holds for the rows on the screen; false where the program ends before."""
        while not holds(self.page.splitlines()):
            if not self._read():
                return False
        return True

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.kill(self._process.pid, signal.SIGINT)

    def ends(self) -> int:
        """Read to the end, and return the exit code."""
        while self._read():
            pass
        return self._process.wait()

    @property
    def page(self) -> str:
        """What is on the screen."""
        return "\n".join(row.rstrip() for row in self.screen.display)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.close()
        os.close(self._ours)

    def _read(self) -> bool:
        try:
            sent = os.read(self._ours, 65536)
        except OSError:  # the program has ended
            return False
        self.sent += sent
        self._stream.feed(sent)
        return bool(sent)


def is_narrow(rows: list[str]) -> bool:
    """Whether the rows of the block are there, and shorter than a narrow terminal is wide."""
    widths = [len(row) for row in rows if row.startswith(("requests", "TTFT"))]
    return len(widths) > 1 and max(widths) < 40


def narrow_rows(sent: bytes) -> list[str]:
    """The rows of that width that were written, to their ends."""
    rows = re.findall(r"TTFT [^\x1b\r\n]*(?=[\x1b\r\n])", sent.decode(errors="replace"))
    return [row for row in rows if len(row) < 40]


def test_a_run_is_shown_as_a_block_that_is_gone_in_the_end(
    preloaded: Preloaded, tmp_path: Path, url: str
) -> None:
    """By the figures of its log; narrower when the terminal is; the report stands where it was."""
    with Run(preloaded, tmp_path, "--url", url, "--rate", 20, "--duration", "60s") as run:
        assert run.shows(lambda rows: any("req/s of 20.0 wanted" in row for row in rows))
        assert run.shows(lambda rows: any("performance" in row for row in rows))
        before = len(run.sent)
        run.resize(40)
        run.screen.resize(columns=40)
        # What was written before that may be read first.
        assert run.shows(lambda rows: bool(narrow_rows(run.sent[before:])) and is_narrow(rows))
        run.resize(80)
        run.screen.resize(columns=80)
        run.interrupt()
        assert run.ends() == 130
        assert "TTFT         p50" not in run.page
        assert b"Results saved" in run.sent
        assert b"\x1b[?25l" not in run.sent


def test_lines_where_no_block_is_wanted(preloaded: Preloaded, tmp_path: Path, url: str) -> None:
    """One now and then, without control characters: as an option says, and in a plain terminal."""
    arguments = ("--url", url, "--rate", 20, "--duration", "1s", "--summary")
    for name in ("option", "terminal"):
        (tmp_path / name).mkdir()
    with (
        Run(preloaded, tmp_path / "option", *arguments, "--no-live") as by_option,
        Run(preloaded, tmp_path / "terminal", *arguments, TERM="dumb") as in_terminal,
    ):
        # 4: a busy machine makes the client late.
        assert {by_option.ends(), in_terminal.ends()} <= {0, 4}
    for run in (by_option, in_terminal):
        before_report = run.sent.partition(b"open loop")[0]
        assert before_report.count(b"performance  ") >= 1
        assert b"\x1b" not in before_report


@pytest.mark.slow
def test_no_color_where_none_is_wanted(preloaded: Preloaded, tmp_path: Path) -> None:
    """With NO_COLOR, failures are shown without a color."""
    with (
        start_mock(scenario="chaos", fault_share=1.0) as mock,
        Run(preloaded, tmp_path, "--url", mock.url, "--rate", 20, "--duration", "60s", NO_COLOR="1") as run,
    ):
        assert run.shows(lambda rows: any(row.startswith("errors  ") for row in rows))
        assert run.shows(lambda rows: any("failed" in row for row in rows))
        run.interrupt()
        run.ends()
    assert b"\x1b[31m" not in run.sent


SUITE = """
[meta]
name = "one"
[defaults]
url = "{url}"
[[models]]
name = "m"
[[benchmarks]]
name = "chat"
input_tokens = 16
[[loads]]
name = "low"
rate = 20
duration = "0.5s"
"""


@pytest.mark.slow
def test_every_command_that_measures_shows_lines_where_no_block_is_wanted(
    preloaded: Preloaded, tmp_path: Path, url: str
) -> None:
    """A suite, an audit, and the resumption of one."""
    (tmp_path / "suite.toml").write_text(SUITE.format(url=url))
    audit = ("audit", "output-caching", "--url", url, "--model", "m", "--out", "audit", "-n", "4", "-c", "2")
    wrong = []
    for command in (("run", "suite.toml"), audit, ("resume", "audit")):
        if command[0] == "resume":
            shutil.rmtree(next(path for path in sorted((tmp_path / "audit").iterdir()) if path.is_dir()))
        with Run(preloaded, tmp_path, "--no-live", command=command) as run:
            code = run.ends()
        if b"\x1b" in run.sent or code not in {0, 1, 4}:
            wrong.append((command, code, run.page))
    assert not wrong
