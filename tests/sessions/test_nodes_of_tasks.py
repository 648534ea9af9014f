"""Benchmarks and agents on several nodes, here plain processes: questions and scores as on one machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.plugins.ray import ray_nodes
from reporter.log.query import query
from tests.sessions.plain_nodes import PlainCluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = 12

AGENT = """
async def twice(sample, ask, sandbox):
    messages = sample.messages()
    reply = await ask(messages)
    messages += [reply.message, {"role": "user", "content": f"Sure? {sample.prompt}"}]
    with ask.tool("sh") as call:
        call.result = (await sandbox.exec("echo done")).stdout
    return [*messages, (await ask(messages)).message]


def exact(solution_str, ground_truth, extra_info):
    return float(solution_str == ground_truth)
"""


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """An endpoint that answers half of the questions right, whether it is asked once or twice."""
    script = tmp_path_factory.mktemp("model") / "replies.jsonl"
    replies: list[dict[str, Any]] = [
        {"match": f"question {number}.", "reply": "yes"} for number in range(0, ROWS, 2)
    ]
    script.write_bytes(b"\n".join(map(orjson.dumps, [*replies, {"reply": "no"}])))
    with start_mock(ttft="1ms", itl="0ms", replies=script) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with questions, and a module with an agent and an eval function."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "double.py").write_text(AGENT)
    questions = [
        {"system_prompt": "Answer.", "user_prompt": f"question {number}.", "ground_truth": "yes"}
        for number in range(ROWS)
    ]
    (folder / "rows.jsonl").write_bytes(b"\n".join(map(orjson.dumps, questions)))
    return folder


@pytest.fixture(autouse=True)
def _two_nodes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in that folder, with two nodes in place of Ray's."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(ray_nodes, "RayNodes", PlainCluster)


def accuracy(mock: MockProcess, out: Path, **options: Any) -> loadgen.Run:
    """A session of benchmarks."""
    evals = ["double:exact"]
    return loadgen.accuracy(
        "rows.jsonl",
        url=[mock.url],
        model="m",
        eval_function=evals,
        concurrency=4,
        repeats=2,
        out=out,
        workers=1,
        **options,
    )


def figures(run: loadgen.Run) -> dict[str, float]:
    """The figures of accuracy of a run, and how many episodes it had."""
    report = run.report()
    (score,) = report.accuracy
    assert score.statistics is not None
    return {
        **{
            name: getattr(score, name)
            for name in ("value", "issued", "scored", "questions", "standard_error")
        },
        **{f"pass@{name}": value for name, value in score.pass_at.items()},
        **asdict(score.statistics),
        "episodes": 0 if report.episodes is None else report.episodes.count,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, pytest.param({"agent": "double:twice", "allow_code_execution": True}, marks=pytest.mark.slow)],
)
def test_nodes_score_as_one_machine(mock: MockProcess, tmp_path: Path, options: dict[str, Any]) -> None:
    """Every question once for each repetition, split over the nodes; the figures of accuracy are equal."""
    alone = accuracy(mock, tmp_path / "one", **options)
    run = accuracy(mock, tmp_path / "two", ray="auto", **options)
    expected = figures(alone)
    assert expected["value"] == 0.5
    assert figures(run) == pytest.approx(expected, rel=1e-12)  # sums of the same numbers in another order
    sql = "SELECT prompt_id, count(*) FROM samples WHERE coalesce(turn, 0) = 0 GROUP BY ALL ORDER BY ALL"
    assert query(run.folder, sql).rows == [(number, 2) for number in range(ROWS)]
    of_nodes = query(run.folder, "SELECT node, count(*) FROM requests GROUP BY node ORDER BY node").rows
    assert [node for node, _ in of_nodes] == ["node-0", "node-1"]
