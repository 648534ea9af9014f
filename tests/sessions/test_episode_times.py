"""The time of an episode: its parts add up to its duration, and none of them is client overhead."""

from __future__ import annotations

import sys
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

import loadgen
from loadgen.mock_endpoint.process import start_mock
from workloads.episode_program import EpisodeProgram

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import MockProcess, Run

BUSY_MS = 250
"""How long each agent is busy; the client adds a few ms, or on a busy machine some more, to a turn."""

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

async def set_up(sample, sandbox):
    await asyncio.sleep({BUSY_MS} / 1e3)

async def look(sample, sandbox, result):
    await asyncio.sleep({BUSY_MS} / 1e3)
    return result
"""
BURNER = f"""
import asyncio, time

async def burns(sample, ask, sandbox):
    if sample.prompt == "go":
        return await ask(sample.messages())
    await asyncio.sleep(0.1)
    for _ in range(5):
        end = time.perf_counter() + {BUSY_MS} / 1e3
        while time.perf_counter() < end:
            sum(range(1000))
        await asyncio.sleep(0.01)
    return await ask(sample.messages())
"""
"""The first question keeps the process of the agents busy while the answers to the others come."""

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


def played(server: MockProcess, **options: Any) -> Run:
    """A run of three episodes."""
    defaults: dict[str, Any] = {"concurrency": 3, "prompts": "prompts.jsonl", "on_invalid": "warn"}
    return loadgen.perf(
        url=server.url, model="m", workers=1, probe=False, out="run", **{**defaults, **options}
    )


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


def overhead_ms(run: Run) -> float:
    """The client overhead of a turn, in the median."""
    (overhead,) = run.sql("SELECT median(own_ms) FROM samples WHERE role = 'model'").fetchall()[0]
    return float(overhead)


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
    run = played(server, user_url=server.url, user_model="u", **options)
    assert run.sql("SELECT DISTINCT ending FROM episodes").fetchall() == [("completed",)]
    parts = times(run)
    assert parts[part] >= BUSY_MS
    assert overhead_ms(run) < BUSY_MS / 4
    assert (parts["user_ms"] > 0) == (part == "tool_ms")
    episodes = run.report().episodes
    assert episodes is not None
    assert episodes.figures[part].mean == pytest.approx(parts[part])
    assert episodes.figures["duration_ms"].mean == pytest.approx(parts["duration_ms"])


@pytest.mark.slow
def test_set_up_and_finish_are_times_of_their_own(
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
    assert max(parts["own_ms"], overhead_ms(run)) < BUSY_MS / 4


@pytest.mark.slow
def test_an_import_delays_no_turn(server: MockProcess, folder: Path) -> None:
    """Agents are imported before the first request, and imports inside an episode hold nothing up."""
    slow = f"import time; time.sleep({BUSY_MS} / 1e3)\n"
    (folder / "heavy.py").write_text(slow)
    source = AGENTS.replace("time.sleep", "import heavy; time.sleep")
    (folder / "busy_agents.py").write_text(slow + source)
    run = played(server, agent="busy_agents:asks")
    parts = times(run)
    assert max(parts["setup_ms"], parts["own_ms"], overhead_ms(run)) < BUSY_MS / 4


@pytest.mark.slow
def test_an_episode_that_waits_for_a_place(server: MockProcess, folder: Path) -> None:
    """In an open loop its schedule is its arrival: the wait is in its first turn alone."""
    del folder
    run = played(server, agent="busy_agents:waits", concurrency=None, rate="1000", max_concurrency=1)
    assert times(run)["waited_ms"] >= BUSY_MS / 2
    held = run.sql("SELECT max(held_ms), median(own_ms) FROM samples WHERE turn = 0").fetchall()[0]
    assert held[0] >= BUSY_MS
    assert held[1] < BUSY_MS / 4


def test_an_episode_without_a_turn_is_on_time(server: MockProcess, folder: Path) -> None:
    """Its one failed request, which says that it failed, was due when it failed."""
    del folder
    run = played(server, agent="busy_agents:shouts")
    assert run.sql("SELECT error, max(issue_lag_ms) FROM samples GROUP BY error").fetchall() == [
        ("agent_error", 0)
    ]


@pytest.mark.slow
def test_an_agent_that_computes_delays_no_stamp(folder: Path) -> None:
    """Of the other agents' answers, where chunks are stamped as they are read: one is free of such a gap."""
    (folder / "busy_agents.py").write_text(BURNER)
    (folder / "prompts.jsonl").write_text('{"prompt": "burn"}\n' + '{"prompt": "go"}\n' * 3)
    with start_mock(ttft="20ms", itl="20ms", tokens="40") as slow:
        run = played(slow, agent="busy_agents:burns", concurrency=4, transport="aiohttp", requests=4)
    gaps = run.sql(
        "SELECT max(gap_ms) FROM chunks JOIN samples USING (sample_uuid) WHERE prompt_id > 0 "
        "GROUP BY sample_uuid"
    ).fetchall()
    (burnt_ms,) = run.sql("SELECT own_ms FROM episodes WHERE prompt_id = 0").fetchall()[0]
    assert burnt_ms > 5 * BUSY_MS
    assert len(gaps) == 3
    assert min(gaps)[0] < BUSY_MS
