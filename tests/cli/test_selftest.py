"""The client on every scenario, and a client with errors, which must fail."""

from __future__ import annotations

import re
import signal
import ssl
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.observed_socket import ObservedSocket
from loadgen.driver.client.tls import is_compiled
from loadgen.driver.client.transport import MEASURES_BEST, TRANSPORTS
from loadgen.mock_endpoint.process import start_mock
from loadgen.mock_endpoint.scenarios.answers import KEY
from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.plugins.selftest import (
    replayed_sessions,
    run_rows,
    spoken_requests,
    stated_requests,
    trial,
    uploads,
    vector_requests,
)
from loadgen.plugins.selftest.conformance_table import table
from loadgen.plugins.selftest.selftest_row import rows
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess
    from loadgen.plugins.selftest.row_result import RowResult
    from loadgen.plugins.selftest.selftest_row import ConformanceRow
    from loadgen.sessions.settings.perf import PerfSettings

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

TRIED = {name: scenario for name, scenario in SCENARIOS.items() if not scenario.unasked}
"""What is tried where no scenario is named."""


def in_first(transport: str) -> list[ConformanceRow]:
    """The row of every scenario in the scenario's first protocol."""
    return [row for row in rows((), None, [transport]) if row.protocol == row.scenario.protocols[0]]


def in_turn(transport: str) -> list[ConformanceRow]:
    """The row of every scenario in one protocol; scenarios take turns with protocols."""
    protocols = {
        name: scenario.protocols[number % len(scenario.protocols)]
        for number, (name, scenario) in enumerate(TRIED.items())
    }
    return [row for row in rows((), None, [transport]) if row.protocol == protocols[row.scenario.name]]


@pytest.fixture(scope="module")
def each_scenario(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[RowResult], Path]:
    """Every scenario in its first protocol over one transport, once; and where the logs are."""
    folder = tmp_path_factory.mktemp("selftest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("no_proxy", "*")
        patch.setattr(trial, "CALM", ())  # no test looks at times
        return trial.try_all(in_first("native"), folder), folder


def test_every_scenario_passes(each_scenario: tuple[list[RowResult], Path]) -> None:
    """The client logs what the server did, in one protocol and in any time."""
    judged, _ = each_scenario
    tried = Counter(row_result.row.scenario.name for row_result in judged)
    assert tried == dict.fromkeys(TRIED, 1)
    assert wrong(judged) == {}


def test_every_scenario_passes_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS changes no figure and no failure, and compiled code follows requests over TLS."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(trial, "CALM", ())
    tried = [row for row in in_first("native") if row.scenario.place == "http"]
    # Tickets of TLS 1.3 come after the request, and are not the first bytes of a response.
    tried += rows(["no_answer", "closes_when_idle"], ["chat"], ["aiohttp"])
    results = trial.try_all(tried, tmp_path / "logs", tls=True)
    assert len(results) > 100
    assert wrong(results) == {}
    assert any(result.plain for result in results) == is_compiled(ssl.create_default_context())


@pytest.mark.slow
def test_every_row_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client logs what the server did, in every protocol, and over every transport.

    `test_every_scenario_passes` has the first protocols over the native transport. On a busy machine a row
    may be late, five times in a row; an error in the client's stamps would make a scenario late in every row.
    """
    monkeypatch.setenv("no_proxy", "*")
    in_others = [row for row in rows((), None, [MEASURES_BEST]) if row.protocol != row.scenario.protocols[0]]
    tried = [*in_others, *in_first("python"), *in_turn("aiohttp")]
    assert {row.transport for row in tried} == {*TRANSPORTS}
    judged = trial.try_all(tried, tmp_path / "logs")
    assert len(judged) > 500
    assert wrong(judged) == {}
    on_time = {row_result.row.scenario.name for row_result in judged if row_result.passed}
    assert set(TRIED) - on_time == set()


def wrong(judged: Sequence[RowResult]) -> dict[str, list[str]]:
    """What does not pass in each row, but for its times."""
    misses = {
        str(row_result.row): [miss.what for miss in row_result.misses if not miss.only_time]
        for row_result in judged
    }
    return {row: what for row, what in misses.items() if what}


def test_the_key_is_in_no_log(each_scenario: tuple[list[RowResult], Path]) -> None:
    """One scenario repeats it, in a message that is logged."""
    logs = [log.read_bytes() for log in each_scenario[1].glob("*/events.db")]
    assert logs
    assert all(KEY.encode() not in log for log in logs)


def test_replayed_sessions_pass(tmp_path: Path) -> None:
    """Every turn once, after what it waits for; two sessions at a time; the cache hits of the recording."""
    result = replayed_sessions.try_sessions("native", tmp_path / "sessions")
    assert result.misses == ()
    assert result.seen == {"completed": 4 * 7}
    assert "all 1 rows pass" in table([result], width=200, color=False)


@pytest.mark.parametrize("transport", ["native", "python"])
def test_uploads_are_left_out_of_ttft(tmp_path: Path, transport: str) -> None:
    """The kernel's stamps of the last byte bound what the server has recorded, on any machine."""
    result = uploads.try_uploads(transport, tmp_path / "uploads")
    assert [miss for miss in result.misses if not miss.only_time] == []
    assert result.seen == {"completed": 4}


def test_stated_requests_pass(tmp_path: Path) -> None:
    """Drafts, times and departures are those of the server's record, over both kinds of transports."""
    for transport in ("native", "aiohttp"):
        result = stated_requests.try_stated(transport, tmp_path / transport)
        assert [miss for miss in result.misses if not miss.only_time] == []
        assert result.seen["left"] > 0
        assert result.tokens == (60,)


def test_vectors_pass_and_others_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors, scores and a fault are those of the server; other results are a miss."""
    result = vector_requests.try_vectors("aiohttp", tmp_path / "right")
    assert result.misses == ()
    assert result.seen == {"completed": 12, "wrong_results": 6}
    monkeypatch.setattr(vector_requests, "relevance", lambda query, document: len(query + document))
    result = vector_requests.try_vectors("native", tmp_path / "wrong")
    assert len(result.misses) == 6
    assert all("are not those of the server" in miss.what for miss in result.misses)


def test_speech_passes_and_other_speech_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths and transcripts are those of the server; a server with others is a miss."""
    result = spoken_requests.try_speech("native", tmp_path / "right")
    assert [miss for miss in result.misses if not miss.only_time] == []
    assert result.seen == {"completed": 8}
    monkeypatch.setattr(spoken_requests, "SPEECH_SECONDS", 2.0)
    result = spoken_requests.try_speech("aiohttp", tmp_path / "wrong")
    assert "speech of 1.0 s, not of 2.0 s in 4 pieces" in {miss.what for miss in result.misses}


def test_wrong_replays_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay with shorter delays, of too many sessions at a time, or with fewer hits."""

    def wrong_settings(**options: Any) -> PerfSettings:
        return perf_settings(**{**options, "trace_speed": 1000.0, "concurrency": 4})

    def small_cache(**options: Any) -> MockProcess:
        return start_mock(**{**options, "cache_blocks": 4})

    monkeypatch.setattr(run_rows, "perf_settings", wrong_settings)
    monkeypatch.setattr(replayed_sessions, "start_mock", small_cache)
    early, many, hits = replayed_sessions.try_sessions("native", tmp_path / "sessions").misses
    assert "turns left before the end of what they wait for" in early.what
    assert many.what == "4 sessions at a time, not 2"
    assert "blocks of prompts were cached, not" in hits.what


@pytest.mark.parametrize("width", [40, 100, 200])
def test_the_table_has_a_line_for_each_scenario(
    each_scenario: tuple[list[RowResult], Path], width: int
) -> None:
    """Within the page, without color unless it is asked for, with the verdict in the end."""
    judged, _ = each_scenario
    page = table(judged, width=width, color=False)
    lines = page.splitlines()
    assert {line.split()[0] for line in lines if line} >= set(TRIED)
    assert "\x1b" not in page
    assert "\x1b[" in table(judged, width=width, color=True)
    failed = sum(not row_result.passed for row_result in judged)
    verdict = f"{failed} of {len(judged)} rows fail" if failed else f"all {len(judged)} rows pass"
    assert verdict in " ".join(page.split())
    assert ("the server's behavior" in page) == (width == 200)
    assert max(map(len, lines)) <= width


@pytest.mark.slow
@pytest.mark.parametrize("name", ["length_too_short", "length_too_short_late"])
def test_a_client_that_reads_late_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What the server sends 20 ms apart is one piece for a client that is held up; either is right."""
    monkeypatch.setenv("no_proxy", "*")
    receive = ObservedSocket.receive

    def late(self: ObservedSocket, buffers: Sequence[Any], flags: int = 0) -> int:
        time.sleep(0.1)
        return receive(self, buffers, flags)

    monkeypatch.setattr(ObservedSocket, "receive", late)
    (judged,) = trial.try_all(rows([name], ["messages"], ["aiohttp"]), tmp_path / "logs", at_once=1)
    assert [miss.what for miss in judged.misses] == []


class Careless:
    """A client of chat completions with the errors that are found in the wild."""

    announces_end = False

    def __getattr__(self, name: str) -> Any:
        return getattr(chat_completions, name)

    def chunk(self, payload: Any) -> Any:
        """It counts a role as a token, ignores reasoning, skips errors, and ignores tool calls."""
        delta = chat_completions.chunk(payload)
        if (payload.get("choices") or [{}])[0].get("delta", {}).get("role"):
            delta = delta._replace(content="assistant")
        return delta._replace(reasoning="", tool_calls=(), error=None)


def careless(_: str, __: Mapping[str, Any]) -> Any:
    """The codec of a client with errors."""
    return Careless()


def test_a_client_with_errors_fails(tmp_path: Path) -> None:
    """Each of its errors makes the row fail that is about it; what it does right still passes."""
    names = ["role_early", "reasoning", "error_frame", "ends_early", "tool_calls", "usage_null", "http_429"]
    judged = trial.try_all(rows(names, ["chat"], ["native"]), tmp_path, make_codec=careless)
    differs = wrong(judged)
    assert {result.row.scenario.name for result in judged if str(result.row) in differs} == set(names[:5])
    misses = {
        row_result.row.scenario.name: "; ".join(miss.what for miss in row_result.misses)
        for row_result in judged
    }
    assert "chunks: 17, not 16" in misses["role_early"]
    assert "completed, not error_frame" in misses["error_frame"]
    assert "completed, not truncated" in misses["ends_early"]
    assert "tool call: None, not {" in misses["tool_calls"]
    page = " ".join(table(judged, width=100, color=False).split())
    # More than five where a busy machine is late.
    assert re.search(r"[567] of 7 rows fail", page)
    assert "role_early, chat, native: " in page


def test_the_command(loadgen: Loadgen, tmp_path: Path) -> None:
    """A table on standard output, the logs where they are wanted."""
    done = loadgen("selftest", "--only", "cut", "--only", "crlf", "--protocol", "chat", "--keep", "kept")
    assert (done.returncode, done.stderr) == (0, "")
    assert "all 4 rows pass; 2 scenarios; chat; native aiohttp" in done.stdout
    assert (tmp_path / "kept" / "1" / "events.db").exists()
    assert len((tmp_path / "kept" / "truth.jsonl").read_text().splitlines()) == 16
    again = loadgen("selftest", "--only", "cut", "--keep", "kept")
    assert (again.returncode, again.stderr) == (
        2,
        "error: --keep kept: the folder exists; name a new one\n",
    )


def test_the_command_in_json(loadgen: Loadgen) -> None:
    """A list of rows."""
    done = loadgen(
        "selftest", "--only", "plain", "--protocol", "completions", "--transport", "native", "--json"
    )
    (row,) = orjson.loads(done.stdout)
    assert (done.returncode, row["passed"], row["seen"]) == (0, True, {"completed": 6})
    assert row["tokens"] == [16]
    assert row["measured_ms"].keys() == row["true_ms"].keys() >= {"ttft", "ttfo", "ttfv", "tpot", "last"}


def test_an_interrupt_ends_it(start_loadgen: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """At once, without a word, and without leaving a folder."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    arguments = ("selftest", "--only", "endless_pings", "--only", "stall", "--keep", "kept")
    with start_loadgen(*arguments, temporary=scratch) as process:
        log = tmp_path / "kept" / "1" / "events.db"
        while not log.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (130, "")
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tls", "--only", "sessions"), "--tls: sessions cannot be tried over TLS"),
        (("--only", "clrf"), "--only clrf: no such scenario; did you mean 'crlf'"),
        (
            ("--protocol", "grpc"),
            "--protocol grpc: no scenarios in this protocol; choose from chat, completions",
        ),
        (
            ("--only", "tool_calls", "--protocol", "json"),
            "tool_calls: not for json; choose another --protocol",
        ),
    ],
)
def test_what_cannot_be_tried(loadgen: Loadgen, arguments: tuple[str, ...], message: str) -> None:
    """It is said, and nothing is started."""
    done = loadgen("selftest", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_scenarios_are_listed(loadgen: Loadgen) -> None:
    """All of them, and what a client must see."""
    listed = orjson.loads(loadgen("list", "scenarios", "--json").stdout)
    assert list(listed) == [*SCENARIOS, "chaos"]
    assert listed["cut"] == "the connection closes after 8 tokens: truncated"
