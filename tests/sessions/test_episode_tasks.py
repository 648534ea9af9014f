"""Tasks of several turns end to end: asked of a scripted endpoint, logged, and scored from the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.mock_endpoint.process import start_mock
from tests.plugins.evals.tasks.test_multi_if import ROWS
from tests.plugins.evals.tasks.test_tau_bench import write_airline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import MockProcess

TASKS = ["toolcall15", "tau_bench:domain=airline", "multi_if"]
PLAIN = 12
REPLIES: list[dict[str, Any]] = [
    {"match": "like in Berlin", "tool_calls": [{"name": "get_weather", "arguments": {"location": "Berlin"}}]},
    {"match": "How can I help", "reply": "A refund, please."},
    {
        "match": "A refund",
        "tool_calls": [{"name": "send_certificate", "arguments": {"user_id": "ann", "amount": 50}}],
    },
    {"match": "certificate_", "reply": "It is $1,200."},
    {"match": "$1,200", "reply": "###STOP###"},
    {"match": "The file b.csv", "tool_calls": [{"name": "file_read", "arguments": {"path": "b.csv"}}]},
    {"match": "chair,17", "reply": "FINAL ANSWER: 17"},
    {"match": "World War", "reply": "In 1945."},
    {"match": "turn 1", "reply": "no commas"},
    {"match": "turn 2", "reply": '"no commas"'},
    {"match": "turn 3", "reply": '"bye"'},
    {"reply": "Well."},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A model that calls tools, and plays a user."""
    script = tmp_path_factory.mktemp("model") / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    with start_mock(ttft="1ms", itl="0", replies=script) as mock:
        yield mock


def test_tasks_of_several_turns(server: MockProcess, tmp_path: Path) -> None:
    """The model under test plays the users too; each score is in the report."""
    write_airline(tmp_path)
    (tmp_path / "multi_if.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    run = loadgen.accuracy(
        *TASKS,
        url=server.url,
        model="m",
        data=tmp_path,
        workers=1,
        probe=False,
        on_invalid="warn",
        out=tmp_path / "run",
    )
    report = run.report()
    assert report.validity.stands, report.validity.reasons
    scores = {score.name: score for score in report.accuracy}
    assert scores["tau_bench"].value == 1
    assert scores["toolcall15"].headlines["tool_selection"].value == 1 / 3
    assert scores["toolcall15"].headlines["restraint"].value == 1 / 3
    turns = scores["multi_if"].headlines
    assert (turns["turn_1"].value, turns["turn_2"].value, turns["turn_3"].value) == (1, 1, 1)
    users = run.sql("SELECT role, measured, count(*) FROM samples GROUP BY ALL ORDER BY ALL").fetchall()
    assert ("user_sim", False, 2) in users
    tools = run.sql("SELECT DISTINCT name FROM tool_calls ORDER BY name").fetchall()
    assert tools == [("get_weather",), ("send_certificate",)]


def test_an_agent_reads_the_file_of_a_question(server: MockProcess, tmp_path: Path) -> None:
    """GAIA's attachment is in the sandbox; a question without one is an episode, too."""
    row = {"Level": 1, "Final answer": "17", "file_name": ""}
    rows = [
        {**row, "task_id": "a", "Question": "How many?"},
        {**row, "task_id": "b", "Question": "How many chairs?", "file_name": "b.csv"},
    ]
    (tmp_path / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "b.csv").write_text("chair,17\n")
    asked: dict[str, Any] = {"url": server.url, "model": "m", "data": tmp_path, "workers": 1, "probe": False}
    with pytest.raises(loadgen.LoadgenError, match="--allow-code-execution"):
        loadgen.accuracy("gaia:mode=agent", **asked, out=tmp_path / "refused")
    run = loadgen.accuracy("gaia:mode=agent", **asked, allow_code_execution=True, out=tmp_path / "run")
    scores = run.sql("SELECT DISTINCT question_id, value, status FROM scores ORDER BY ALL").fetchall()
    assert scores == [("a", 0.0, "unparsed"), ("b", 1.0, "scored")]
    assert run.sql("SELECT name, count(*) FROM tool_calls GROUP BY ALL").fetchall() == [("file_read", 1)]


@pytest.mark.slow
def test_plain_questions_and_episodes_in_one_run(server: MockProcess, tmp_path: Path) -> None:
    """In one closed loop, mixed: a plain question is one request and not an episode; both are scored."""
    path = tmp_path / "wells.jsonl"
    path.write_text('{"user_prompt": "Well?", "ground_truth": "Well."}\n' * PLAIN)
    run = loadgen.accuracy(
        *("toolcall15", str(path)),
        url=server.url,
        model="m",
        concurrency=4,
        order="shuffle",
        workers=1,
        probe=False,
        out=tmp_path / "run",
    )
    report = run.report()
    scores = {score.name: score for score in report.accuracy}
    assert (scores["wells"].scored, scores["wells"].value) == (PLAIN, 1)
    assert (scores["toolcall15"].scored, scores["toolcall15"].headlines["restraint"].value) == (15, 1 / 3)
    plain, (played, prompts, episodes, turns) = run.sql(
        "SELECT conversation_id IN (SELECT conversation_id FROM episodes), count(DISTINCT prompt_id), "
        "count(DISTINCT conversation_id), count(*) FROM samples GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert plain == (False, PLAIN, PLAIN, PLAIN)
    assert (played, prompts, episodes) == (True, 15, 15)
    assert report.counts.completed == report.counts.issued == turns + PLAIN
    assert report.episodes is not None
    assert report.episodes.figures["turns"].total == turns
