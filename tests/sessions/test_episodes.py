"""Episodes under load: what is logged of them, how they end, and how they are scored and resumed."""

from __future__ import annotations

import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.cli.resume import resume
from loadgen.mock_endpoint.process import start_mock
from loadgen.plugins.exports.command import export
from loadgen.sessions.settings.export import ExportSettings
from loadgen.sessions.settings.resume import ResumeSettings
from reporter.log.all_events import rows
from reporter.log.so_far import so_far

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen import MockProcess, Run

DOCS = Path(__file__).parents[2] / "docs" / "agents.md"
AGENTS = """
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.agents.simulated_user import SimulatedUser, converse
from loadgen.plugins.agents.tool_loop import Tool, tool_loop

def add(a, b):
    return a + b

ADD = Tool({"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}, add)

async def tools(sample, ask, sandbox):
    return await tool_loop(ask, sample.messages(), [ADD])

async def endless(sample, ask, sandbox):
    messages = sample.messages()
    while True:
        messages = [*messages, (await ask(messages)).message, {"role": "user", "content": "more"}]

async def broken(sample, ask, sandbox):
    if "4 + 4" in sample.messages()[0]["content"]:
        await ask(sample.messages())
    raise ValueError("no good")

async def talk(sample, ask, sandbox):
    return await converse(ask, SimulatedUser("You are Ann.", stop=("bye",)), "You help.")

class Counting:
    def __init__(self):
        self.samples = 0
    async def __call__(self, sample, ask, sandbox):
        self.samples += 1
        await ask(sample.messages())
        return EpisodeResult(reward=self.samples)
"""
REPLIES: list[dict[str, Any]] = [
    {"match": "tool: 42", "reply": "It is 42."},
    {"match": "6 * 7", "tool_calls": [{"name": "calculator", "arguments": {"expression": "6 * 7"}}]},
    {"match": "tool: 5", "reply": "5"},
    {"match": "tool: ", "reply": "It is nine."},
    {"match": "2 + 3", "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
    {"match": "4 + 4", "tool_calls": [{"name": "add", "arguments": {"a": 4, "b": 5}}]},
    {"match": "boom", "status": 500, "error": "no"},
    {"match": "How can I help", "reply": "I want tea."},
    {"match": "tea", "reply": "Here it is."},
    {"match": "Here it is", "reply": "Thanks, bye."},
    {"reply": "Well."},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A model that calls tools."""
    script = tmp_path_factory.mktemp("model") / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    with start_mock(ttft="1ms", itl="0", replies=script) as mock:
        yield mock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents and the questions are."""
    (tmp_path / "own_agents.py").write_text(AGENTS)
    lines = [{"prompt": f"What is {sum_}?"} for sum_ in ("2 + 3", "4 + 4", "1 + 1", "2 + 3")]
    (tmp_path / "prompts.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("own_agents", "calculator", "graders"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def played(server: MockProcess, agent: str, **options: Any) -> Run:
    """A run of four episodes of an agent."""
    defaults: dict[str, Any] = {"concurrency": 3, "workers": 1, "prompts": "prompts.jsonl", "probe": False}
    return loadgen.perf(
        url=server.url, model="m", agent=f"own_agents:{agent}", **{**defaults, "out": Path(agent), **options}
    )


def endings(run: Run) -> list[tuple[Any, ...]]:
    """How the episodes ended, with their turns and calls of tools."""
    return run.sql(
        "SELECT ending, turns, tool_calls, count(*) FROM episodes WHERE measured GROUP BY ALL ORDER BY ALL"
    ).fetchall()


@pytest.mark.parametrize(
    "load", [{}, {"concurrency": None, "rate": "200"}, {"concurrency": None, "offline": True}]
)
def test_each_call_of_the_model_is_a_request(server: MockProcess, folder: Path, load: dict[str, Any]) -> None:
    """In every kind of load; those of one episode have a name and a number each, and tools are events."""
    del folder
    run = played(server, "tools", **load)
    assert endings(run) == [("completed", 1, 0, 1), ("completed", 2, 1, 3)]
    turns = run.sql("SELECT turn, role, count(*) FROM samples GROUP BY ALL ORDER BY ALL").fetchall()
    assert turns == [(0, "model", 4), (1, "model", 3)]
    report = run.report()
    assert report.counts.completed == 7
    assert report.episodes is not None
    assert report.episodes.figures["turns"].total == 7
    assert [(tool.name, tool.count, tool.failed) for tool in report.episodes.tools] == [("add", 3, 0)]
    assert [turn.count for turn in report.episodes.turns] == [4, 3]
    calls = [row for row in rows(run.folder) if row["type"] == "TOOL_CALLED"]
    assert {orjson.loads(row["texts"])["result"] for row in calls} == {"5", "9"}
    # The time of the model and of tools is within the wall time, and tokens are those of the turns.
    (wrong,) = run.sql("SELECT count(*) FROM episodes WHERE model_ms + tool_ms > wall_ms").fetchall()[0]
    assert wrong == 0
    sums = "SELECT sum(input_tokens), sum(output_tokens) FROM"
    assert run.sql(f"{sums} episodes").fetchall() == run.sql(f"{sums} samples").fetchall()


@pytest.mark.parametrize(
    ("agent", "options", "expected"),
    [
        ("endless", {"max_turns": 3}, [("max_turns", 3, 0, 4)]),
        ("endless", {"max_turns": 50, "max_episode_tokens": 1}, [("max_tokens", 1, 0, 4)]),
        (
            "endless",
            {"max_turns": 50, "max_episode_cost": 1e-9, "episode_prices": "1,1"},
            [("max_cost", 1, 0, 4)],
        ),
        ("broken", {}, [("agent_error", 0, 0, 3), ("agent_error", 1, 0, 1)]),
    ],
)
def test_how_episodes_end(
    server: MockProcess, folder: Path, agent: str, options: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    """At a limit, or by a bug of the agent, which ends its own episode only."""
    del folder
    assert endings(played(server, agent, **options)) == expected


@pytest.mark.slow
def test_a_limit_of_time_ends_a_turn(folder: Path) -> None:
    """An endpoint that says nothing for long does not hold an episode up."""
    del folder
    with start_mock(ttft="60s", itl="0") as slow:
        run = played(slow, "endless", max_episode_time="300ms", drain="5s", requests=1)
    assert [ending for ending, *_ in endings(run)] == ["max_time"]


@pytest.mark.slow
def test_figures_leave_a_simulated_user_out(server: MockProcess, folder: Path) -> None:
    """Its requests are in the log with its role, and its key is not."""
    del folder
    key = "sk-user-0123456789"
    run = played(server, "talk", user_url=server.url, user_model="ann", user_api_key=key, requests=2)
    counted = "SELECT role, phase, measured, count(*) FROM samples GROUP BY ALL ORDER BY ALL"
    assert run.sql(counted).fetchall() == [
        ("model", "performance", True, 2),
        ("user_sim", "user_sim", False, 4),
    ]
    assert run.report().counts.issued == 2
    assert run.sql("SELECT DISTINCT user_turns, reason FROM episodes").fetchall() == [(2, "user_stop")]
    assert key.encode() not in b"".join(path.read_bytes() for path in run.folder.iterdir())


@pytest.mark.slow
def test_an_agent_in_sequence_keeps_its_state(server: MockProcess, folder: Path) -> None:
    """One instance plays all samples; otherwise each has its own."""
    del folder
    rewards = "SELECT reward FROM episodes ORDER BY prompt_id"
    alone = played(server, "Counting", sequential=True, concurrency=None)
    assert alone.sql(rewards).fetchall() == [(1,), (2,), (3,), (4,)]
    assert played(server, "Counting", out=Path("apart")).sql(rewards).fetchall() == [(1,)] * 4


@pytest.mark.slow
def test_an_unfinished_episode_is_asked_again(server: MockProcess, folder: Path) -> None:
    """A kill between two turns leaves all of its requests complete, and still it has no result."""
    del folder
    run = played(server, "tools", on_invalid="warn")  # on a busy machine the client is late
    with closing(sqlite3.connect(run.folder / "events.db")) as log, log:
        log.execute("DELETE FROM events WHERE code = 14 AND json_extract(data, '$.prompt_id') = 1")
        log.execute("DELETE FROM events WHERE code IN (4, 5)")
    assert so_far(run.folder).settled == {0: 1, 2: 1, 3: 1}
    with pytest.raises(SystemExit) as end:
        resume(ResumeSettings(run=run.folder, quiet=True))
    assert end.value.code == 0
    assert so_far(run.folder).settled == dict.fromkeys(range(4), 1)
    assert endings(loadgen.open_run(run.folder)) == [("completed", 1, 0, 1), ("completed", 2, 1, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent": "own_agents:nothing"}, "has no nothing"),
        ({"agent": "no_such_module:agent"}, "importing no_such_module fails"),
        ({"agent": "own_agents:AGENT"}, "has no AGENT"),
        ({"agent": "own_agents"}, "not MODULE:ATTRIBUTE"),
        ({"agent": "own_agents:ADD"}, "neither an async function"),
        ({"agent": "own_agents:talk", "user_url": "http://127.0.0.1:1"}, "--user-model"),
        ({"agent": "own_agents:talk", "max_turns": 0}, "--max-turns 0"),
        ({"agent": "own_agents:talk", "max_episode_cost": 1}, "--episode-prices"),
        ({"agent": "own_agents:talk", "sequential": True, "concurrency": 2}, "--sequential"),
    ],
)
def test_what_cannot_be_played(folder: Path, options: dict[str, Any], message: str) -> None:
    """It is known before the first request, and the message says what to do."""
    del folder
    with pytest.raises(loadgen.UsageError, match=re.escape(message)):
        loadgen.perf(url="http://127.0.0.1:1", model="m", prompts="prompts.jsonl", **options)


def documented(language: str, number: int) -> str:
    """A block of code of the page."""
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(), re.DOTALL)[number]


@pytest.mark.slow
@pytest.mark.parametrize("imported_from", ["loadgen.agents", "osmosis_ai.rollout.core.schemas"])
def test_a_loop_written_with_the_docs_alone(
    server: MockProcess, folder: Path, capsys: pytest.CaptureFixture[str], imported_from: str
) -> None:
    """It runs unchanged, five times a question, is scored by two functions, and pass@k is shown."""
    loop = documented("python", 0)
    if imported_from != "loadgen.agents":
        loop = loop.replace("    RolloutAgentLoop,\n", "").replace("loadgen.agents", imported_from)
        loop = f"from osmosis_ai.rollout.core.base import RolloutAgentLoop\n{loop}"
    (folder / "calculator.py").write_text(loop)
    (folder / "graders.py").write_text(documented("python", 1))
    (folder / "sums.jsonl").write_text(documented("json", 0))
    run = loadgen.accuracy(
        "sums.jsonl",
        url=server.url,
        model="m",
        agent="calculator:Calculator",
        repeats=5,
        eval_function=["graders:exact", "graders:used_a_tool"],
        max_turns=10,
        workers=1,
        probe=False,
        out=folder / "run",
    )
    scores = {score.scorer: score for score in run.report().accuracy}
    exact, used = scores["graders:exact"], scores["graders:used_a_tool"]
    assert (exact.scored, exact.value, used.value) == (10, 0.5, 1.0)
    assert used.pass_at is not None
    assert set(used.pass_at) >= {"1", "3", "5"}
    assert run.sql("SELECT DISTINCT turns, tool_calls FROM episodes").fetchall() == [(2, 1)]
    export(ExportSettings(run=run.folder, episodes=folder / "episodes.jsonl"))
    assert "10 episodes written to" in capsys.readouterr().out
    rows = [orjson.loads(line) for line in (folder / "episodes.jsonl").read_bytes().splitlines()]
    assert sorted((row["question_id"], row["attempt"]) for row in rows) == [
        (question, attempt) for question in ("0", "1") for attempt in range(1, 6)
    ]
    assert {row["scores"]["graders:used_a_tool"]["value"] for row in rows} == {1.0}
    right = {row["question_id"]: row["scores"]["graders:exact"]["value"] for row in rows}
    assert right == {"0": 1.0, "1": 0.0}
    assert {row["output"] for row in rows} == {"5", "It is nine."}


@pytest.mark.slow
def test_an_agent_with_tools_of_this_program(server: MockProcess, folder: Path) -> None:
    """Without a line of code: the model calls the calculator, reads the result, and answers."""
    (folder / "sums.jsonl").write_text('{"user_prompt": "What is 6 * 7?", "ground_truth": "It is 42."}\n')
    (folder / "graders.py").write_text(documented("python", 1))
    run = loadgen.accuracy(
        "sums.jsonl",
        url=server.url,
        model="m",
        agent_command="@tools calculator",
        eval_function=["graders:exact", "graders:used_a_tool"],
        workers=1,
        probe=False,
        out=folder / "run",
    )
    assert {score.scorer: score.value for score in run.report().accuracy} == {
        "graders:exact": 1.0,
        "graders:used_a_tool": 1.0,
    }
    assert run.sql("SELECT turns, tool_calls, ending FROM episodes").fetchall() == [(2, 1, "completed")]


@pytest.mark.slow
def test_an_agent_runs_commands_in_a_sandbox(server: MockProcess, folder: Path) -> None:
    """Its own one for each episode, also without a benchmark."""
    with (folder / "own_agents.py").open("a") as file:
        file.write(
            "\nasync def shell(sample, ask, sandbox):\n"
            "    await ask(sample.messages())\n"
            "    with ask.tool('sh') as call:\n"
            "        call.result = (await sandbox.exec('echo x >> log; cat log')).stdout\n"
        )
    run = played(server, "shell", allow_code_execution=True)
    assert endings(run) == [("completed", 1, 1, 4)]
    calls = [row for row in rows(run.folder) if row["type"] == "TOOL_CALLED"]
    assert {orjson.loads(row["texts"])["result"] for row in calls} == {"x\n"}
    with pytest.raises(loadgen.UsageError, match="--sandbox-image"):
        loadgen.perf(url=server.url, model="m", prompts="prompts.jsonl", sandbox_image="x.tar")
