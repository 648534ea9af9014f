"""The time of an episode: its parts add up to its duration, and none of them is client overhead."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from statistics import mean
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

import loadgen
from loadgen.mock_endpoint.process import start_mock
from tests.preloaded import GIVE_UP_S
from workloads.episode_program import EpisodeProgram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import MockProcess, Run

BUSY_MS = 250
"""How long each agent is busy at least."""
ANSWER = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "done"}, "finish_reason": "stop"}]}\n\n'
    b"data: [DONE]\n\n"
)

AGENTS = f"""
import asyncio, time
from loadgen.plugins.agents.episode import EpisodeResult

async def waits(sample, ask, sandbox):
    await asyncio.sleep({BUSY_MS} / 1e3)
    return await ask(sample.messages())

async def blocks(sample, ask, sandbox):
    time.sleep({BUSY_MS} / 1e3)
    return await ask(sample.messages())

async def computes(sample, ask, sandbox):
    end = time.perf_counter() + {BUSY_MS} / 1e3
    while time.perf_counter() < end:
        sum(range(1000))
    return await ask(sample.messages())

async def calls(sample, ask, sandbox):
    with ask.tool("search", "x"):
        await asyncio.sleep({BUSY_MS} / 1e3)
        await asyncio.gather(ask(sample.messages()), ask(sample.messages()))
    await ask.user(sample.messages())
    return "done"

async def shouts(sample, ask, sandbox):
    raise ValueError("no question was asked")

async def asks(sample, ask, sandbox):
    return await ask(sample.messages())

async def imports(sample, ask, sandbox):
    import heavy
    return await ask(sample.messages())

async def set_up(sample, sandbox):
    await asyncio.sleep({BUSY_MS} / 1e3)

async def look(sample, sandbox, result):
    await asyncio.sleep({BUSY_MS} / 1e3)
    return result
"""
SLOW = f"""
import time
from pathlib import Path
time.sleep({BUSY_MS} / 1e3)
with (Path(__file__).parent / "imported").open("a") as stamps:
    print(time.monotonic_ns(), file=stamps)
"""
COUNT_ENDED = "SELECT count(*) FROM events JOIN event_types USING (code) WHERE name = 'COMPLETE'"
BURNER = f"""
import asyncio, sqlite3, time
from pathlib import Path

FOLDER = Path(__file__).parent

async def burns(sample, ask, sandbox):
    if sample.prompt == "go":
        return await ask(sample.messages())
    while len(list(FOLDER.glob("asked-*"))) < 3:
        await asyncio.sleep(0.01)
    begun_ns = time.monotonic_ns()
    (FOLDER / "burning").touch()
    log = sqlite3.connect(f"file:{{FOLDER}}/run/events.db?mode=ro", uri=True)
    give_up = time.monotonic() + {GIVE_UP_S}
    while log.execute({COUNT_ENDED!r}).fetchone()[0] < 3 and time.monotonic() < give_up:
        sum(range(100_000))
    (FOLDER / "burnt").write_text(f"{{begun_ns}} {{time.monotonic_ns()}}")
    return await ask(sample.messages())
"""
"""The first question keeps the process of the agents busy until the other answers are in the log."""

PROGRAM = f"""
import json, os, time, urllib.request
time.sleep({BUSY_MS} / 1e3)
body = json.dumps({{"model": "m", "messages": [{{"role": "user", "content": "go"}}]}}).encode()
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, {{"Content-Type": "application/json"}}
)
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"""


@pytest.fixture(scope="module")
def server() -> Iterator[MockProcess]:
    """A model that answers after 20 ms."""
    with start_mock(ttft="20ms", itl="0", tokens="4") as mock:
        yield mock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents and the questions are."""
    (tmp_path / "busy_agents.py").write_text(AGENTS)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "go"}\n' * 3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "busy_agents", raising=False)
    return tmp_path


@contextmanager
def holding(folder: Path) -> Iterator[str]:
    """A server that answers `go` once the file `burning` exists, and anything else at once; its URL."""
    numbers = count()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if b'"go"' in body:
                (folder / f"asked-{next(numbers)}").touch()
                give_up = time.monotonic() + GIVE_UP_S
                while not (folder / "burning").exists() and time.monotonic() < give_up:
                    time.sleep(0.01)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def played(url: str, **options: Any) -> Run:
    """A run of three episodes."""
    defaults: dict[str, Any] = {"concurrency": 3, "prompts": "prompts.jsonl", "on_invalid": "warn"}
    return loadgen.perf(url=url, model="m", workers=1, probe=False, out="run", **{**defaults, **options})


def times(run: Run) -> dict[str, float]:
    """The mean of each time of the episodes, after a look at what they must add up to, and at the validity.

    Nothing but the client's speed, which other work on the machine can lower, may make such a run invalid.
    """
    validity = run.report().validity
    assert validity.stands, validity.reasons
    result = run.sql("SELECT COLUMNS('_ms$') FROM episodes")
    episodes = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    for episode in episodes:
        agent = sum(episode[name] for name in ("model_ms", "user_ms", "tool_ms", "own_ms"))
        assert agent == pytest.approx(episode["wall_ms"], abs=1e-3)
        around = episode["setup_ms"] + episode["finish_ms"]
        assert agent + around == pytest.approx(episode["duration_ms"], abs=1e-3)
        assert min(episode.values()) >= 0
    return {name: mean(episode[name] for episode in episodes) for name in result.columns}


def overhead_begins_ms(run: Run) -> list[float]:
    """How long each episode had been under way when the client overhead of its first turn began.

    The overhead includes how late the client began the episode, except for the wait for a place.
    """
    begins = run.sql(
        "SELECT min((issued_ns - started_ns) / 1e6 - issue_lag_ms + waited_ms - coalesce(held_ms, 0)) "
        "FROM samples JOIN episodes USING (conversation_id) WHERE role = 'model' GROUP BY conversation_id"
    ).fetchall()
    assert len(begins) == run.sql("SELECT count(*) FROM episodes").fetchall()[0][0]
    return [float(begin) for (begin,) in begins]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"agent": "busy_agents:waits"}, "own_ms"),
        ({"agent": "busy_agents:blocks"}, "own_ms"),
        ({"agent": "busy_agents:computes"}, "own_ms"),
        ({"agent": "busy_agents:waits", "concurrency": None, "rate": "100"}, "own_ms"),
        ({"agent_command": "PROGRAM"}, "own_ms"),
        ({"agent": "busy_agents:calls"}, "tool_ms"),
    ],
    ids=["waits", "blocks", "computes", "open loop", "program", "tool"],
)
def test_the_agents_time_is_not_the_clients(
    server: MockProcess, folder: Path, options: dict[str, Any], part: str
) -> None:
    """What an agent does before it asks delays no turn, whatever it is."""
    if "agent_command" in options:
        options = {"agent_command": f"{sys.executable} {folder / 'program.py'}"}
    run = played(server.url, user_url=server.url, user_model="u", **options)
    assert run.sql("SELECT DISTINCT ending FROM episodes").fetchall() == [("completed",)]
    parts = times(run)
    assert parts[part] >= BUSY_MS
    assert min(overhead_begins_ms(run)) >= BUSY_MS
    assert (parts["user_ms"] > 0) == (part == "tool_ms")
    episodes = run.report().episodes
    assert episodes is not None
    assert episodes.figures[part].mean == pytest.approx(parts[part])
    assert episodes.figures["duration_ms"].mean == pytest.approx(parts["duration_ms"])


@pytest.mark.slow
def test_set_up_and_finish_are_their_own_times(
    server: MockProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a benchmark does around an episode is neither the agent's nor the client's time."""
    del folder
    around = partial(EpisodeProgram, setup="busy_agents:set_up", finish="busy_agents:look")
    monkeypatch.setattr("loadgen.plugins.evals.tasks.toolcall15.EpisodeProgram", around)
    run = loadgen.accuracy(
        "toolcall15",
        url=server.url,
        model="m",
        sessions=3,
        workers=1,
        probe=False,
        out="run",
        on_invalid="warn",
    )
    parts = times(run)
    assert min(parts["setup_ms"], parts["finish_ms"]) >= BUSY_MS
    assert min(overhead_begins_ms(run)) >= 0


@pytest.mark.slow
def test_an_import_delays_no_turn(server: MockProcess, folder: Path) -> None:
    """Agents are imported before the first request, and imports inside an episode hold nothing up."""
    (folder / "heavy.py").write_text(SLOW.replace("imported", "imported-later"))
    (folder / "busy_agents.py").write_text(SLOW + AGENTS)
    run = played(server.url, agent="busy_agents:imports")
    times(run)
    imported = [int(stamp) for stamp in (folder / "imported").read_text().split()]
    (began_ns,) = run.sql("SELECT min(started_ns - round(setup_ms * 1e6)) FROM episodes").fetchall()[0]
    assert max(imported) <= began_ns
    assert (folder / "imported-later").exists()
    assert max(overhead_begins_ms(run)) >= BUSY_MS


@pytest.mark.slow
def test_an_episode_that_waits_for_a_place(server: MockProcess, folder: Path) -> None:
    """In an open loop its schedule is its arrival: the wait is in its first turn alone."""
    del folder
    run = played(server.url, agent="busy_agents:waits", concurrency=None, rate="1000", max_concurrency=1)
    assert times(run)["waited_ms"] >= BUSY_MS / 2
    ((held_ms,),) = run.sql("SELECT max(held_ms) FROM samples WHERE turn = 0").fetchall()
    assert held_ms >= BUSY_MS
    assert min(overhead_begins_ms(run)) >= BUSY_MS


def test_an_episode_without_a_turn_is_on_time(server: MockProcess, folder: Path) -> None:
    """Its one failed request, which says that it failed, was due when it failed."""
    del folder
    run = played(server.url, agent="busy_agents:shouts")
    assert run.sql("SELECT error, max(issue_lag_ms) FROM samples GROUP BY error").fetchall() == [
        ("agent_error", 0)
    ]


@pytest.mark.slow
def test_an_agent_that_computes_delays_no_stamp(folder: Path) -> None:
    """The other agents' answers come, are stamped and logged while it computes."""
    (folder / "busy_agents.py").write_text(BURNER)
    (folder / "prompts.jsonl").write_text('{"prompt": "burn"}\n' + '{"prompt": "go"}\n' * 3)
    with holding(folder) as url:
        run = played(url, agent="busy_agents:burns", concurrency=4, transport="aiohttp", requests=4)
    begun_ns, burnt_ns = map(int, (folder / "burnt").read_text().split())
    stamps = run.sql("SELECT first_token_ns, complete_ns FROM samples WHERE prompt_id > 0").fetchall()
    assert len(stamps) == 3
    for first_token_ns, complete_ns in stamps:
        assert begun_ns <= first_token_ns <= complete_ns <= burnt_ns
