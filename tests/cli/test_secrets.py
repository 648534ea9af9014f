"""Secrets stay out of the list of processes, the log, the report, and messages of errors."""

from __future__ import annotations

import os
import sys
import threading
import time
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli import app as command_line
from loadgen.sessions import secrets
from loadgen.sessions.error_redaction import redacted
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    Start = Callable[..., subprocess.Popen[str]]
    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

KEY = "sk-Zx/9+very.secret=key"
COOKIE = "session-0123456789"
FORMS = [
    form.encode()
    for secret in (KEY, COOKIE)
    for form in (secret, secret.replace("/", "\\/"), b64encode(secret.encode()).decode().rstrip("="))
] + [b"sk-Zx%2F9%2Bvery", b"sk-Zx%2f9%2bvery"]
"""What must be nowhere."""

needs_proc = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="there is no /proc here")


class Echo(BaseHTTPRequestHandler):
    """Repeats what it was sent, in every place in which a response has room for a text."""

    protocol_version = "HTTP/1.1"
    places: Any = None
    """The names of the shapes, in turn."""

    def do_GET(self) -> None:
        """The model list."""
        self._send(200, orjson.dumps({"data": [{"id": f"m {self._said()}"}]}))

    def do_POST(self) -> None:
        """An answer, in one of the shapes."""
        self.rfile.read(int(self.headers["Content-Length"]))
        text = self._echo()
        shape = next(self.places, "answer")
        if shape == "error":
            self._send(400, orjson.dumps({"error": {"message": text}}))
        elif shape == "page":
            self._send(500, f"<p>{text}</p>".encode(), "text/html")
        elif shape == "redirect":
            self._send(307, b"", location="/?" + text.replace(" ", "%20"))
        elif shape == "reason":
            self._send(418, b"", reason=text)
        elif shape == "malformed":
            self._stream(b"data: {" + text.encode() + b"\n\n")
        elif shape == "frame":
            self._stream(b"event: error\ndata: " + text.encode() + b"\n\n")
        else:
            self._stream(self._answer(text))

    def _answer(self, text: str) -> bytes:
        call = {"index": 0, "id": text, text: text, "function": {"name": text, text: 1, "arguments": text}}
        deltas = [{"reasoning": text}, {"content": text[:9]}, {"content": text[9:]}, {"tool_calls": [call]}]
        payloads: list[Any] = [{"choices": [{"delta": delta}]} for delta in deltas]
        payloads.append({"choices": [{"delta": {}, "finish_reason": text}]})
        frames = b"".join(b"data: " + orjson.dumps(payload) + b"\n\n" for payload in payloads)
        return b": " + text.encode() + b"\n\n" + frames + b"data: [DONE]\n\n"

    def _echo(self) -> str:
        key = self.headers["Authorization"].split()[-1]
        plain = f"{self.headers['Authorization']} {self.headers['Cookie']} {COOKIE}"
        return f"{plain} {b64encode(key.encode()).decode()} {key.replace('/', '%2F').replace('+', '%2B')}"

    def _stream(self, body: bytes) -> None:
        self._send(200, body, "text/event-stream")

    def _send(self, status: int, body: bytes, kind: str = "application/json", **more: str) -> None:
        self.send_response(status, more.pop("reason", None))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Set-Cookie", self._echo())
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


SHAPES = ("answer", "error", "page", "redirect", "reason", "malformed", "frame")


@pytest.fixture
def echo() -> Iterator[str]:
    """A server that repeats the key wherever it can."""
    Echo.places = iter(SHAPES)
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_no_echo_of_a_secret_is_anywhere(loadgen: Loadgen, echo: str, tmp_path: Path) -> None:
    """Whatever shape a hostile server gives it: not in the log, the report, or the output of any command."""
    endpoint = ("--url", echo, "--model", "m", "--api-key", KEY, "--header", f"Cookie: a=b; id={COOKIE}")
    runs = [loadgen("perf", *endpoint, "--no-probe", "-n", len(SHAPES), "-c", 1, "--out", "run")]
    runs += [loadgen("check", *endpoint, "--json")]
    runs += [loadgen("sql", "run", "from samples join outputs using (sample_uuid)", "--json")]
    assert "Traceback" not in "".join(run.stderr for run in runs), runs
    assert '"***' in runs[2].stdout
    everything = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    everything += "".join(run.stdout + run.stderr for run in runs).encode()
    assert b"samples" not in everything or b"http_418" in everything
    assert [form for form in FORMS if form in everything] == []


def descendants(pid: int) -> list[int]:
    """A process and all that it started, of which there are some."""
    children = [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [pid, *(descendant for child in children for descendant in descendants(child))]


@needs_proc
def test_the_list_of_processes_shows_no_secret(
    start_fresh_loadgen: Start, tmp_path: Path, mock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a run goes on, neither the program's command line nor a worker's, nor a worker's environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-somebody-else")
    process = start_fresh_loadgen(
        *("perf", "--url", mock.url, "--model", "small-model", "--api-key=sk-right-key"),
        *("--header", "X-Token: very-secret-value", "-d", 60, "--workers", 2, "-c", 2, "--out", "run"),
    )
    log, give_up = tmp_path / "run" / "events.db", time.monotonic() + 120
    while not log.exists():
        assert time.monotonic() < give_up
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    pids = descendants(process.pid)
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids]
    environments = [Path(f"/proc/{pid}/environ").read_bytes() for pid in pids[1:]]
    process.kill()
    process.communicate()
    assert len(pids) == 3
    assert b"--api-key=***\0--header\0***\0" in lines[0]
    for held in (*lines, *environments):
        assert [word for word in (b"sk-right-key", b"very-secret", b"sk-of-some") if word in held] == []


@needs_proc
def test_the_mock_s_key_is_not_shown_either(start_fresh_loadgen: Start) -> None:
    """`loadgen mock --api-key`: it serves, and asks for that key."""
    process = start_fresh_loadgen("mock", "--port", 0, "--api-key", "sk-of-the-mock")
    assert process.stdout is not None
    url = process.stdout.readline().split()[-1]
    shown = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    assert b"--api-key\0***" in shown
    assert b"sk-of" not in shown
    assert url.startswith("http://")
    process.terminate()
    process.communicate()


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        (["--api-key", "k"], {1: "***"}),
        (["--api-key=k=k"], {0: "--api-key=***"}),
        (["perf", "--header", "A: b", "--header=C: d", "-n", "1"], {2: "***", 3: "--header=***"}),
        (["--api-key", "@file", "--header", "@file", "--header=@file"], {}),
        (["--api-key", "", "--api-key="], {}),
        (["--api-key"], {}),
        (["sql", "run", "select '--api-key k'"], {}),
    ],
)
def test_what_is_a_secret(arguments: list[str], masked: dict[int, str]) -> None:
    """The values of the options, joined to them or not; a file's name is not a secret."""
    assert secrets.masked_places(arguments) == masked


def test_the_words_come_back_as_they_were(fresh_loadgen: Loadgen) -> None:
    """Also where they are not UTF-8, hold line ends, or come twice; and the exit code is the program's."""
    run = fresh_loadgen(
        "perf", "--header", "a\nb", "--header", os.fsdecode(b"\xff"), "--url", "h", "--model", "m"
    )
    assert run.returncode == 2
    assert "--header: write 'Name: value'" in run.stderr
    assert fresh_loadgen("sql", "run", "--header", "x", LOADGEN_CONCEALED_77="y").returncode == 2


def test_nothing_is_restarted_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a secret there is no second start."""
    monkeypatch.setattr(sys, "argv", ["loadgen", "perf", "--api-key", "@file"])
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("started anew"))
    secrets.conceal()


def test_a_program_inside_another_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the command line is not that of the process, there is nothing to hide."""
    monkeypatch.setattr(sys, "argv", ["loadgen", "--api-key", "k"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "something-else.py"])
    monkeypatch.setattr(os, "execve", lambda *_: pytest.fail("started anew"))
    secrets.conceal()


def test_a_restart_that_fails_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The secret is visible then: the user gets a note, and the run continues."""

    def refuse(*_: object) -> None:
        raise OSError(7, "Argument list too long")

    monkeypatch.setattr(sys, "argv", ["loadgen", "--api-key", "k"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "loadgen", "--api-key", "k"])
    monkeypatch.setattr(os, "execve", refuse)
    assert "the list of processes shows the secret (Argument list too long)" in (secrets.conceal() or "")


def test_a_secret_in_a_file(tmp_path: Path) -> None:
    """Its lines, without blank ones; a header may hold a colon, a file of headers many."""
    path = tmp_path / "key"
    path.write_bytes(b"\n sk-in-a-file \r\n")
    assert secrets.lines("--api-key", f"@{path}") == ["sk-in-a-file"]
    assert secrets.lines("--header", "A: @b") == ["A: @b"]
    assert redacted("it is sk-in-a-file") == "it is ***"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("missing", "No such file"),
        (".", "Is a directory"),
        ("empty", "nothing in the file"),
        ("/dev/zero", "more than"),
    ],
)
def test_a_secret_that_is_not_in_its_file(tmp_path: Path, name: str, why: str) -> None:
    """Said with the option and the file."""
    (tmp_path / "empty").write_text(" \n")
    with pytest.raises(UsageError, match=why) as raised:
        secrets.lines("--api-key", f"@{tmp_path / name}")
    assert str(raised.value).startswith(f"--api-key @{tmp_path / name}")


def test_the_key_of_a_file_is_sent(loadgen: Loadgen, mock: Any, tmp_path: Path) -> None:
    """Like one that was given as it is."""
    (tmp_path / "key").write_text("sk-right-key\n")
    run = loadgen("check", "--url", mock.url, "--model", "small-model", "--api-key", "@key")
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("mistake", [KeyError(f"Bearer {KEY}"), UsageError(f"no such thing: {KEY}\x1b[2J")])
def test_no_secret_is_in_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mistake: Exception
) -> None:
    """Nor in a message; and neither can steer the terminal."""

    def fail(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(sys, "argv", ["loadgen", "perf", "--header", f"Authorization: Bearer {KEY}"])
    monkeypatch.setattr(command_line, "plain_command", fail)
    code = command_line._run()
    stderr = capsys.readouterr().err
    assert code == (2 if isinstance(mistake, UsageError) else 70)
    assert "***" in stderr
    assert KEY not in stderr
    assert "\x1b" not in stderr


def test_settings_do_not_show_their_secrets() -> None:
    """Not even when they are printed."""
    settings = perf_settings(url="h", model="m", api_key=KEY, header=[f"X-Token: {KEY}"])
    assert KEY not in repr(settings)
