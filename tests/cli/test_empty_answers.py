"""Answers without text and without calls: right where the benchmark's rule says so, else failed requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from reporter.log.database import open_log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FUNCTION = {
    "name": "area",
    "description": "The area of a square.",
    "parameters": {"type": "dict", "properties": {"side": {"type": "integer"}}, "required": ["side"]},
}
CALL = {"name": "area", "arguments": {"side": 2}}
REPLIES = {
    "nothing": {"reply": ""},
    "words": {"reply": "No function of these does that."},
    "a call": {"tool_calls": [CALL]},
    "needs a call": {"reply": ""},
}


def row(number: int, question: str) -> dict[str, object]:
    """A question as the leaderboard has it."""
    asked = [[{"role": "user", "content": question}]]
    return {"id": f"irrelevance_{number}", "question": asked, "function": [FUNCTION]}


@pytest.fixture
def run(loadgen: Callable[..., object], tmp_path: Path) -> Path:
    """A session of three questions where a call is wrong, and of one where one is right."""
    data = tmp_path / "data"
    data.mkdir()
    *irrelevant, simple = [row(number, question) for number, question in enumerate(REPLIES)]
    truth = {"id": simple["id"], "ground_truth": [{"area": {"side": [2]}}]}
    files = {
        "BFCL_v4_irrelevance.jsonl": irrelevant,
        "BFCL_v4_simple_python.jsonl": [simple],
        "possible_answer__BFCL_v4_simple_python.jsonl": [truth],
    }
    for name, rows in files.items():
        (data / name).write_bytes(b"\n".join(map(orjson.dumps, rows)))
    script = tmp_path / "replies.jsonl"
    script.write_bytes(
        b"\n".join(orjson.dumps({"prompt": question, **reply}) for question, reply in REPLIES.items())
    )
    folder = tmp_path / "run"
    with start_mock(ttft="50ms", itl="0", replies=script) as mock:
        loadgen(
            *("accuracy", "bfcl:category=irrelevance+simple_python", "--data", data),
            *("--url", mock.url, "--model", "m", "-q", "--out", folder),
        )
    return folder


@pytest.mark.slow
def test_no_call_is_right_where_no_function_helps(run: Path) -> None:
    """An empty answer is judged as the official rule does; elsewhere it is a failed request."""
    connection = open_log(run, ("scores",))
    scores = connection.execute(
        "SELECT tags['category'], status, value, reason FROM scores ORDER BY prompt_id"
    ).fetchall()
    assert [score[:3] for score in scores] == [
        ("simple_python", "missing", 0),
        ("irrelevance", "scored", 1),
        ("irrelevance", "scored", 1),
        ("irrelevance", "scored", 0),
    ]
    assert scores[0][3] == "empty_answer"
    report = orjson.loads((run / "report.json").read_bytes())
    (task,) = report["accuracy"]
    assert (task["issued"], task["scored"], task["missing"], task["unscored"]) == (4, 3, 1, 0)
    assert task["value"] == 0.5
