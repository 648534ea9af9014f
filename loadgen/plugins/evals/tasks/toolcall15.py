"""ToolCall-15: fifteen scenarios with twelve mocked tools, in five categories (stevibe/ToolCall-15)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.evals.environments.toolcall15 import result_of, tools
from loadgen.plugins.evals.grading.toolcall15 import PASS, Call, Transcript, points
from loadgen.plugins.evals.headlines import by_tag, score_of
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from workloads.cells import text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.question import Question
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.agents.episode import Ask
    from workloads.answer import Answer
    from workloads.workload import Inputs

MOST_TURNS: Final = 8
CATEGORIES: Final = (
    "tool_selection",
    "parameter_precision",
    "multi_step_chains",
    "restraint",
    "error_recovery",
)
_SYSTEM: Final = """\
You are a helpful assistant with access to the tools provided.

Rules:
- Use a tool ONLY when it is necessary to fulfill the user's request.
- If you can answer directly from your own knowledge, do so without calling a tool.
- If a tool call fails, explain the failure and suggest an alternative approach.
- Never invent information that a tool should provide.

Benchmark context: today is 2026-03-20 (Friday). Use this date for any relative time request."""
_BODY: Final = {"parallel_tool_calls": True, "tool_choice": "auto"}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a scenario."""
    offered = tuple(tools())
    for index, row in enumerate(inputs.rows):
        scenario = text(row, "id")
        sample = EpisodeSample(
            index,
            text(row, "message"),
            system=_SYSTEM,
            tools=offered,
            tags={"category": text(row, "category")},
            episode=EpisodeProgram(f"{__name__}:play", {"scenario": scenario}),
        )
        yield Question(scenario, sample, {"scenario": scenario})


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Let the model call tools until the model answers, in 8 turns at most."""
    scenario = sample.episode.data["scenario"]
    conversation = sample.messages()
    calls: list[dict[str, Any]] = []
    answer = ""
    for turn in range(1, MOST_TURNS + 1):
        reply = await ask(conversation, tools=sample.tools, body=_BODY)
        conversation.append(reply.message)
        answer = reply.text
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            function = call.get("function") or {}
            name, arguments = str(function.get("name")), _object(function.get("arguments"))
            with ask.tool(name, function.get("arguments")) as record:
                record.result = result_of(scenario, name, arguments, [made["name"] for made in calls])
            calls.append({"name": name, "arguments": arguments, "turn": turn})
            result = {"role": "tool", "tool_call_id": call.get("id", ""), "content": record.result}
            conversation.append(result)
    return EpisodeResult(conversation, details={"calls": calls, "answer": answer})


def _object(arguments: Any) -> dict[str, Any]:
    """The arguments of a call; empty for anything except a JSON object."""
    try:
        value = json.loads(arguments)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def grade(reference: Reference, answer: Answer) -> Score:
    """The points of the scenario, of two."""
    if answer.episode is None or "calls" not in answer.episode.details:
        ending = "not an episode" if answer.episode is None else answer.episode.ending
        return unparsed(f"the scenario was not played to its end: {ending}")
    details = answer.episode.details
    calls = [Call(**call) for call in details["calls"]]
    earned = points(reference["scenario"], Transcript(calls, details["answer"]))
    called = ", ".join(call.name for call in calls) or "no calls"
    reason = "" if earned == PASS else "partial" if earned else "failed"
    return graded(earned / PASS, f"{called}: {details['answer']}", reason, points=float(earned))


def _percent(category: str) -> str:
    return f"round({score_of('category', category)} * 100)"


WORKLOAD: Final = benchmark(
    "toolcall15",
    questions,
    Scorer(
        "official",
        1,
        grade,
        "stevibe/ToolCall-15@e3003c95: lib/benchmark.ts",
        headlines=(
            Headline("score", f"round(list_avg([{', '.join(map(_percent, CATEGORIES))}]))", "number"),
            *by_tag("category", CATEGORIES),
        ),
    ),
)
