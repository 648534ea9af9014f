"""Affinity: sessions over two servers with prefix caches, pinned by a header, or spread, with a finding."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from tests.admission import pass_on, request_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.mock_endpoint.process import MockProcess

SESSIONS = 4
TURNS = 4
FORM = f"sessions={SESSIONS} turns={TURNS} system=2000 task=600 result=600 output=8 fanout=0 tool=1ms"
HEADER = b"x-session-id:"


class Gateway:
    """A gateway of servers: a request goes to the server of its session header, without one to the next.

    A connection carries one request (`--connection new`).
    """

    def __init__(self, mocks: Sequence[MockProcess]) -> None:
        self._ports = [urlsplit(mock.url).port for mock in mocks]
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        self._next = count()
        self._sessions: dict[bytes, int] = {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), client.makefile("rb") as stream:
            request = request_of(stream)
            session = next((line for line in request.split(b"\r\n") if line.lower().startswith(HEADER)), b"")
            place = self._sessions.setdefault(session, len(self._sessions)) if session else next(self._next)
            port = self._ports[place % len(self._ports)]
            with socket.create_connection(("127.0.0.1", port)) as server:
                server.sendall(request)
                pass_on(server, client)


def reported(loadgen: Any, gateway: Gateway, name: str, *options: str) -> dict[str, Any]:
    """The report of a run through the gateway, one request at a time."""
    load = ("-c", 1, "--sessions", SESSIONS, "--salt", "--connection", "new", "--no-probe", "-q")
    target = ("--url", gateway.url, "--model", "mock", "--on-invalid", "warn", "--out", name)
    run = loadgen("perf", *target, "--agentic", FORM, *load, *options)
    assert run.returncode == 0, run.stderr
    report: dict[str, Any] = orjson.loads(loadgen("report", name, "--json").stdout)
    return report


@pytest.mark.slow
def test_lost_affinity_is_a_finding(loadgen: Any) -> None:
    """A session that changes the server at each turn finds there what its last turn but one left."""
    options = {"cache_blocks": 0, "block_tokens": 16, "ttft": "1ms", "itl": "0", "tokens": "8"}
    with start_mock(**options) as first, start_mock(**options) as second, Gateway((first, second)) as gateway:
        pinned = reported(loadgen, gateway, "pinned", "--session-header", "X-Session-ID")
        asked = SESSIONS * TURNS // 2
        truths = [*first.truth(asked), *second.truth(asked)]
        spread = reported(loadgen, gateway, "spread")
    cached = sum(truth.cached_tokens for truth in truths)
    share = cached / sum(truth.input_tokens for truth in truths)
    assert pinned["sessions"]["measured_hit_rate"] == pytest.approx(share, abs=1e-5)
    assert pinned["sessions"]["reused_rate"] > 0.97
    assert "affinity_lost" not in [finding["code"] for finding in pinned["findings"]]
    opening, later, *_ = spread["sessions"]["reuse"]
    assert (opening["reusable_tokens_mean"], later["cached_tokens_mean"], later["reused_rate"]) == (0, 0, 0)
    assert 0.4 < spread["sessions"]["reused_rate"] < 0.7
    assert (spread["sessions"]["reusing_turns"], spread["sessions"]["lost_turns"]) == (12, 4)
    (finding,) = [each for each in spread["findings"] if each["code"] == "affinity_lost"]
    assert "4 of 12 later turns had less than half of theirs" in finding["message"]
    compared = orjson.loads(loadgen("compare", "pinned", "spread", "--json").stdout)
    rows = {row["metric"]: row for row in compared["rows"]}
    assert rows["session_error"]["figures"][1]["value"] == 0
    shares = [report["sessions"]["measured_hit_rate"] for report in (pinned, spread)]
    assert [figure["value"] for figure in rows["hit_rate"]["figures"]] == pytest.approx(shares, abs=1e-5)
    assert {"session:p(50)", "first_ttft:mean", "later_ttft:mean", "jobs_per_hour"} <= {*rows}
