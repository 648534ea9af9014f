"""The example of an agent loop, written against the contract alone: it runs unchanged in every way."""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.agents import BenchRunner, EvalFnError, EvalFnWrapper, ExternalLLMClient
from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen import MockProcess

FOLDER = Path(__file__).parents[2] / "examples" / "agent_loop"
REPLIES: list[dict[str, Any]] = [
    {"match": "tool: 45.0", "reply": "There is none; it costs 45 dollars."},
    {"match": "tool: 0", "tool_calls": [{"name": "price", "arguments": {"item": "chair"}}]},
    {"match": "tool: 3", "reply": "There are 3."},
    {"match": "lamps", "tool_calls": [{"name": "in_stock", "arguments": {"item": "lamp"}}]},
    {"match": "chair", "tool_calls": [{"name": "in_stock", "arguments": {"item": "chair"}}]},
    {"match": "unknown", "tool_calls": [{"name": "sell", "arguments": {}}]},
    {"reply": "Well."},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A model that calls the example's tools."""
    script = tmp_path_factory.mktemp("model") / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    with start_mock(ttft="1ms", itl="0", replies=script) as mock:
        yield mock


@pytest.fixture(autouse=True)
def _in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    for name in ("stock_clerk", "graders"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.slow
def test_it_runs_on_the_command_line(server: MockProcess, tmp_path: Path) -> None:
    """Five runs a row, two scorers, pass@k, each call of the model and of a tool in the log."""
    run = loadgen.accuracy(
        "questions.jsonl",
        url=server.url,
        model="m",
        agent="stock_clerk:StockClerk",
        repeats=5,
        eval_function=["graders:names_the_truth", "graders:looked_up"],
        workers=1,
        probe=False,
        debug=True,
        on_invalid="warn",
        out=tmp_path / "run",
        output=tmp_path / "episodes.jsonl",
    )
    rows = [orjson.loads(line) for line in (tmp_path / "episodes.jsonl").read_bytes().splitlines()]
    assert sorted(row["attempt"] for row in rows) == sorted([*range(1, 6)] * 2)
    assert {(row["ending"], row["score"], len(row["scores"])) for row in rows} == {("completed", 1.0, 2)}
    assert all(row["duration_ms"] > 0 and row["input_tokens"] for row in rows)
    assert run.report().validity.stands
    scores = {score.scorer: score for score in run.report().accuracy}
    for score in (scores["graders:names_the_truth"], scores["graders:looked_up"]):
        assert (score.scored, score.value) == (10, 1.0)
        assert score.pass_at is not None
        assert score.pass_at["5"] == 1.0
    of_episodes = (
        "SELECT turns, tool_calls, round(reward, 2), count(*) FROM episodes GROUP BY ALL ORDER BY ALL"
    )
    assert run.sql(of_episodes).fetchall() == [(2, 1, 0.5, 5), (3, 2, 0.33, 5)]
    traces = [path.read_bytes().splitlines() for path in (tmp_path / "run" / "debug").glob("*.jsonl")]
    events = ["turn", "answer", "tool", "turn", "answer", "end"]
    assert [orjson.loads(line)["event"] for line in min(traces, key=len)] == events
    assert len(traces) == 10


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("there.jsonl", "the file exists; choose another name$"),
        ("file.txt", "unknown format; name a file that ends in .jsonl"),
        ("no/file.csv", "does not exist"),
    ],
)
def test_a_file_for_results_is_looked_at_first(tmp_path: Path, name: str, message: str) -> None:
    """Before anything is sent: a run of hours does not end with a file that cannot be written."""
    (tmp_path / "there.jsonl").touch()
    with pytest.raises(loadgen.UsageError, match=message):
        loadgen.perf(url="http://127.0.0.1:9", model="m", output=tmp_path / name, out=tmp_path / "run")
    with pytest.raises(loadgen.UsageError, match="--output names a file for one run"):
        loadgen.sweep(url="http://127.0.0.1:9", model="m", concurrency="1,2", output=tmp_path / "a.csv")


def test_it_runs_from_python(server: MockProcess, tmp_path: Path) -> None:
    """With the same scores; `debug_dir` gets what the loop logs; clients are made for runs at once."""
    graders, stock_clerk = import_module("graders"), import_module("stock_clerk")
    made = []

    def client() -> ExternalLLMClient:
        made.append(ExternalLLMClient("openai/m", api_base=server.url))
        return made[-1]

    async def bench(rows: list[dict[str, Any]], batch_size: int) -> Any:
        evals = [
            EvalFnWrapper(graders.names_the_truth, "truth"),
            EvalFnWrapper(graders.looked_up, "looked_up"),
        ]
        runner = BenchRunner(
            stock_clerk.StockClerk(), client(), evals, debug_dir=str(tmp_path), llm_client_factory=client
        )
        return await runner.run_bench(rows, n_runs=5, max_turns=10, batch_size=batch_size)

    lines = (FOLDER / "questions.jsonl").read_text().splitlines()
    rows = [{name.lower(): value for name, value in orjson.loads(line).items()} for line in lines]
    result = asyncio.run(bench(rows, 3))
    assert [summary.pass_at_k for summary in result.eval_summaries.values()] == [{1: 1.0, 3: 1.0, 5: 1.0}] * 2
    assert {run.error for row in result.rows for run in row.runs} == {None}
    assert len(made) == 4
    events = (tmp_path / "bench-1-run-4.jsonl").read_bytes().splitlines()
    assert [orjson.loads(event)["turn"] for event in events] == [0, 1, 2]
    (row,) = asyncio.run(bench([{**rows[0], "user_prompt": "unknown"}], 1)).rows
    assert (row.runs[0].success, row.runs[0].error, row.runs[0].scores) == (False, None, {})
    assert row.runs[0].reported_error == "the model calls sell, which does not exist"


def test_a_function_that_does_not_grade() -> None:
    """Its first parameter says how it is called; its value is a number."""
    with pytest.raises(EvalFnError, match="solution_str or messages"):
        EvalFnWrapper(len, "mine")
    wrapper = EvalFnWrapper(lambda solution_str, **_: solution_str, "mine")
    with pytest.raises(EvalFnError, match="returned str"):
        asyncio.run(wrapper([], "", {}))
