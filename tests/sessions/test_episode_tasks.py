"""Tasks of several turns end to end: asked of a scripted endpoint, logged, and scored from the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

import loadgen
from loadgen.mock_endpoint.process import start_mock
from tests.workloads.tasks.test_multi_if import ROWS
from tests.workloads.tasks.test_tau_bench import write_airline

if TYPE_CHECKING:
    from pathlib import Path

TASKS = ["toolcall15", "tau_bench:domain=airline", "multi_if"]
REPLIES: list[dict[str, Any]] = [
    {"match": "like in Berlin", "tool_calls": [{"name": "get_weather", "arguments": {"location": "Berlin"}}]},
    {"match": "How can I help", "reply": "A refund, please."},
    {
        "match": "A refund",
        "tool_calls": [{"name": "send_certificate", "arguments": {"user_id": "ann", "amount": 50}}],
    },
    {"match": "certificate_", "reply": "It is $1,200."},
    {"match": "$1,200", "reply": "###STOP###"},
    {"match": "World War", "reply": "In 1945."},
    {"match": "turn 1", "reply": "no commas"},
    {"match": "turn 2", "reply": '"no commas"'},
    {"match": "turn 3", "reply": '"bye"'},
    {"reply": "Well."},
]


def test_tasks_of_several_turns(tmp_path: Path) -> None:
    """The model under test plays the users too; each score is in the report."""
    write_airline(tmp_path)
    (tmp_path / "multi_if.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    with start_mock(ttft="1ms", itl="0", replies=script) as mock:
        run = loadgen.accuracy(
            *TASKS,
            url=mock.url,
            model="m",
            data=tmp_path,
            workers=1,
            probe=False,
            out=tmp_path / "run",
        )
    scores = {score.name: score for score in run.report().accuracy}
    assert scores["tau_bench"].value == 1
    assert scores["toolcall15"].headlines["tool_selection"].value == 1 / 3
    assert scores["toolcall15"].headlines["restraint"].value == 1 / 3
    turns = scores["multi_if"].headlines
    assert (turns["turn_1"].value, turns["turn_2"].value, turns["turn_3"].value) == (1, 1, 1)
    users = run.sql("SELECT role, measured, count(*) FROM samples GROUP BY ALL ORDER BY ALL").fetchall()
    assert ("user_sim", False, 2) in users
    tools = run.sql("SELECT DISTINCT name FROM tool_calls ORDER BY name").fetchall()
    assert tools == [("get_weather",), ("send_certificate",)]
