"""The life of the mock endpoint's process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from loadgen.mock_endpoint import (
    MockError,
    MockOptions,
    MockOptionsError,
    MockSetupError,
    Punctuality,
    start_mock,
)

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("fresh_children")


def listens(url: str) -> bool:
    """Tell whether a caller answers there."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), timeout=120).close()
    except ConnectionError:  # refused, or reset while the listener goes
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    """SIGTERM and SIGINT end the server with exit code 0, and it printed its address and its punctuality."""
    with subprocess.Popen(
        [sys.executable, "-m", "loadgen.mock_endpoint", '{"port": 0}'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        server.send_signal(number)
        rest, errors = server.communicate(timeout=120)
    assert line.startswith(b"listening on http://127.0.0.1:")
    assert line.endswith(b"/v1\n")
    assert Punctuality.from_json(rest) == Punctuality(0, 0, 0, 0, 0)
    assert (errors, server.returncode) == (b"", 0)


def test_it_dies_with_its_parent() -> None:
    """A parent that is killed takes its mock endpoint along."""
    program = "from loadgen.mock_endpoint import start_mock\nprint(start_mock().url, flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        assert listens(url)
        parent.kill()
    give_up_at = time.monotonic() + 60
    while listens(url):
        assert time.monotonic() < give_up_at, "the mock endpoint outlived its parent"
        time.sleep(0.01)


def test_a_stopped_server_is_gone() -> None:
    """After its context the server listens no more, and stopping again is harmless."""
    with start_mock() as mock:
        assert listens(mock.url)
    assert not listens(mock.url)
    assert mock.stop() == 0


def test_a_server_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer its signal is ended all the same."""
    monkeypatch.setattr("loadgen.mock_endpoint.process._TIMEOUT_S", 0.1)
    mock = start_mock()
    os.kill(mock.pid, signal.SIGSTOP)
    assert mock.stop() == -signal.SIGKILL


def test_waiting_for_requests_that_never_come_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for more requests than there are ends with an error that counts them."""
    monkeypatch.setattr("loadgen.mock_endpoint.process._TIMEOUT_S", 0.1)
    with start_mock() as mock, pytest.raises(TimeoutError, match="0 of 1 requests"):
        mock.truth(1)


def test_a_taken_port_is_explained() -> None:
    """A port that is taken is named, with what to do."""
    with start_mock() as mock:
        port = urlsplit(mock.url).port
        with pytest.raises(
            MockSetupError, match=f"cannot listen on 127.0.0.1, port {port}: Address already in use"
        ):
            start_mock(port=port)


def test_the_childs_complaint_is_passed_on() -> None:
    """What the child could not use is in the error of the parent."""
    with pytest.raises(MockSetupError, match="ttft: '5': '5' has no unit"):
        start_mock(ttft="5")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"host": "a..b"}, "'a..b' is not a host: choose a name or an address"),
        ({"host": "\udcff"}, "is not a host"),
        ({"port": 70000}, "port 70000 does not exist"),
        ({"slots": -1}, "-1 slots cannot be"),
        ({"tokens_per_chunk": 0}, "0 tokens per chunk are too few"),
        ({"role_chunk": "last"}, "unknown role chunk 'last'"),
        ({"tls_key": "key.pem"}, "a TLS key needs its certificate"),
    ],
)
def test_a_number_out_of_its_range_is_explained(options: dict[str, Any], complaint: str) -> None:
    """An impossible option is an error before anything is started."""
    with pytest.raises(MockOptionsError, match=complaint):
        start_mock(**options)


def test_options_travel_as_json(tmp_path: Path) -> None:
    """Options that were written as JSON are the same when they are read."""
    options = MockOptions(models=("a", "b"), replies=str(tmp_path), slots=3, api_key="k")
    assert MockOptions.from_json(options.to_json()) == options


@pytest.mark.parametrize("text", ["{", "[1]", '{"prot": 1}'])
def test_other_json_is_refused(text: str) -> None:
    """What is not a JSON object of options is an error that quotes it."""
    with pytest.raises(MockOptionsError, match="is not a JSON object of mock options"):
        MockOptions.from_json(text)


@pytest.mark.parametrize(
    ("argument", "code", "complaint"),
    [
        ('{"itl": "x"}', 2, "mock endpoint: itl: 'x'"),
        ('{"host": "256.0.0.1"}', 3, "mock endpoint: cannot listen on 256.0.0.1"),
        ('{"tls_cert": "none.pem"}', 2, "no certificate with its key can be read from none.pem"),
    ],
)
def test_the_program_explains_itself(argument: str, code: int, complaint: str) -> None:
    """As a program it ends with a sentence and the exit code of the kind of error, without a traceback."""
    ended = subprocess.run(
        [sys.executable, "-m", "loadgen.mock_endpoint", argument],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith("mock endpoint: ")
    assert complaint in ended.stderr
    assert "Traceback" not in ended.stderr


def test_its_errors_are_one_tree() -> None:
    """Catching MockError catches all of them; bad options are ValueErrors too."""
    assert issubclass(MockSetupError, MockError)
    assert issubclass(MockOptionsError, MockError)
    assert issubclass(MockOptionsError, ValueError)
