"""Agent loops from Python, and agents that are programs."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import loadgen
from loadgen.agents import (
    BenchRunner,
    EvalFnWrapper,
    ExternalLLMClient,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    ProviderError,
    RolloutAgentLoop,
)
from loadgen.mock_endpoint.process import start_mock
from reporter.log.all_events import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen import MockProcess, Run
    from loadgen.agents import RolloutContext, RolloutRequest, RolloutResult

ROWS: list[dict[str, Any]] = [
    {"system_prompt": "Add.", "user_prompt": "2 + 3", "ground_truth": "5"},
    {"system_prompt": "Add.", "user_prompt": "boom", "ground_truth": "8"},
    {"system_prompt": "Add.", "user_prompt": "flip", "ground_truth": "heads"},
]
REPLIES: list[dict[str, Any]] = [
    {"match": "boom", "status": 500, "error": "no"},
    {"prompt": "flip", "reply": "heads"},
    {"prompt": "flip", "reply": "tails"},
    {"match": "2 + 3", "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
    {"match": "tool: 5", "reply": "5"},
    {"reply": "Well."},
]
PROGRAM = """
import json, os, sys, urllib.request
task = sys.stdin.read()
def ask(stream):
    body = {"model": "any", "messages": [{"role": "user", "content": task}], "stream": stream, "top_p": 0.5}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json.dumps(body).encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(request).read().decode()
print("secret" if "sk-own-key" in os.environ.values() else "no secret", file=sys.stderr)
whole = json.loads(ask(False))
frames = ask(True)
assert frames.rstrip().endswith("data: [DONE]"), frames
count = open("count", "a"); count.write("x"); count.close()
print(whole["choices"][0]["message"]["content"], len(open("count").read()))
if "boom" in task:
    sys.exit(3)
"""


class Adder(RolloutAgentLoop):
    """Adds with a tool."""

    name = "adder"

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """One tool."""
        del request
        return [
            OpenAIFunctionToolSchema(
                type="function", function=OpenAIFunctionSchema(name="add", description="Adds")
            )
        ]

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Until the model calls no tool."""
        messages = list(ctx.request.messages)
        for turn in range(ctx.request.max_turns):
            result = await ctx.chat(messages, **ctx.request.completion_params)
            messages.append(result.message)
            ctx.log_event("answered", turn=turn)
            for call in result.tool_calls:
                arguments = orjson.loads(call["function"]["arguments"])
                total = str(arguments["a"] + arguments["b"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": total})
                ctx.record_tool_call(1.0)
            if not result.has_tool_calls:
                break
        return ctx.complete(messages)


def exact(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> bool:
    """Whether the answer is right."""
    assert extra_info["user_prompt"]
    return solution_str == ground_truth


async def tools(messages: list[dict[str, Any]], ground_truth: str, metadata: dict[str, Any]) -> float:
    """Fails where there is no tool."""
    del ground_truth, metadata
    return 1.0 / sum(message["role"] == "tool" for message in messages)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A model that calls a tool, fails, and changes its mind."""
    script = tmp_path_factory.mktemp("model") / "replies.jsonl"
    script.write_bytes(b"\n".join(map(orjson.dumps, REPLIES)))
    with start_mock(ttft="1ms", itl="0", replies=script, api_key="sk-own-key") as mock:
        yield mock


def test_an_agent_is_benched(server: MockProcess, tmp_path: Path) -> None:
    """Each row four times: scores, failures that count as 0, pass@k, progress and the loop's own events."""
    progress: list[tuple[int, int]] = []

    async def bench() -> Any:
        async with ExternalLLMClient("m", "sk-own-key", server.url) as client:
            evals = [EvalFnWrapper(exact, "exact"), EvalFnWrapper(tools, "tools")]
            runner = BenchRunner(Adder(), client, evals, debug=True, debug_dir=str(tmp_path / "debug"))
            return await runner.run_bench(
                ROWS,
                n_runs=4,
                completion_params={"temperature": 0.5},
                on_progress=lambda done, total, _: progress.append((done, total)),
                start_index=10,
            )

    result = asyncio.run(bench())
    assert [row.row_index for row in result.rows] == [10, 11, 12]
    assert [[run.success for run in row.runs] for row in result.rows] == [[True] * 4, [False] * 4, [True] * 4]
    assert "HTTP 500" in result.rows[1].runs[0].error
    assert "ZeroDivisionError" in result.rows[2].runs[0].failed_evals["tools"]
    assert (result.total_runs, progress[-1]) == (12, (12, 12))
    summary = result.eval_summaries["exact"]
    # Of four runs all, none and two are right.
    assert summary.mean == pytest.approx(0.5)
    assert summary.pass_at_k == {1: pytest.approx(0.5), 3: pytest.approx(2 / 3)}
    assert result.eval_summaries["tools"].mean == pytest.approx(1 / 3)
    assert result.total_tokens == sum(run.tokens for row in result.rows for run in row.runs) > 0
    events = (tmp_path / "debug" / "bench-10-run-0.jsonl").read_text().splitlines()
    assert [orjson.loads(line)["turn"] for line in events] == [0, 1]


def test_several_runs_at_once_share_nothing(server: MockProcess) -> None:
    """Each has its own client: the tokens of a run are its own."""

    async def bench(batch_size: int) -> list[int]:
        async with ExternalLLMClient("m", "sk-own-key", server.url) as client:
            result = await BenchRunner(Adder(), client, []).run_bench(ROWS[:1], 6, batch_size=batch_size)
            return [run.tokens for run in result.rows[0].runs]

    assert asyncio.run(bench(6)) == asyncio.run(bench(1))


def test_litellm_serves_other_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name without a provider is OpenAI's; whatever LiteLLM raises is a ProviderError."""
    asked: list[dict[str, Any]] = []

    async def acompletion(**body: Any) -> dict[str, Any]:
        asked.append(body)
        if len(asked) > 1:
            raise RuntimeError("rate limit")
        return {"choices": [{"message": {"role": "assistant", "content": "hi"}}], "usage": {}}

    module = ModuleType("litellm")
    module.__spec__ = sys.__spec__
    monkeypatch.setattr(module, "acompletion", acompletion, raising=False)
    monkeypatch.setitem(sys.modules, "litellm", module)
    client = ExternalLLMClient("gpt-4o", "key")
    question = [{"role": "user", "content": "hello"}]
    assert asyncio.run(client.chat_completions(question)).message["content"] == "hi"
    assert asked[0]["model"] == "openai/gpt-4o"
    with pytest.raises(ProviderError, match="rate limit"):
        asyncio.run(client.chat_completions(question))


def by_program(server: MockProcess, folder: Path, **options: Any) -> Run:
    """A run whose agent is a program."""
    (folder / "agent.py").write_text(PROGRAM)
    (folder / "prompts.jsonl").write_bytes(b'{"prompt": "hello"}\n{"prompt": "more"}')
    return loadgen.perf(
        url=server.url,
        model="m",
        api_key="sk-own-key",
        prompts=str(folder / "prompts.jsonl"),
        agent_command=f"{sys.executable} {folder / 'agent.py'}",
        probe=False,
        out=folder / "run",
        **options,
    )


@pytest.mark.parametrize(("sequential", "counts"), [(False, ["1", "1"]), (True, ["1", "2"])])
def test_calls_of_a_program_are_turns(
    server: MockProcess, tmp_path: Path, *, sequential: bool, counts: list[str]
) -> None:
    """With and without a stream; what it prints is the answer; its folder lasts in sequence only."""
    run = by_program(server, tmp_path, sequential=sequential)
    ends = "SELECT ending, reason, turns FROM episodes"
    assert run.sql(ends).fetchall() == [("completed", "exit code 0", 2)] * 2
    assert run.report().counts.completed == 4
    outcomes = [orjson.loads(row["texts"]) for row in rows(run.folder) if row["type"] == "EPISODE_ENDED"]
    assert sorted(outcome["messages"][-1]["content"].split()[-1] for outcome in outcomes) == counts


@pytest.mark.slow
def test_a_program_that_goes_on_is_ended(server: MockProcess, tmp_path: Path) -> None:
    """At the limit of turns its requests are refused, and the episode ends as it should."""
    run = by_program(server, tmp_path, max_turns=1)
    assert run.sql("SELECT DISTINCT ending, turns FROM episodes").fetchall() == [("max_turns", 1)]
