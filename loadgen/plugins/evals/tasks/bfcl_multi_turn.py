"""The Berkeley Function-Calling Leaderboard, version 4: the categories of several turns.

The model works with simulated services (files, cars, flights, tickets, …), whose functions are tools of its
requests. A turn is one message of the user, and as many steps as the model takes until it calls nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.evals.environments.bfcl.services import MODULES, ServiceCall, Services, service_class
from loadgen.plugins.evals.grading.bfcl.multi_turn import fault_of
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.bfcl import FILES, as_many, published
from loadgen.plugins.evals.tasks.bfcl_functions import as_tools, with_hints
from workloads.cells import texts
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import last_text
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask
    from workloads.answer import Answer
    from workloads.sample import Message
    from workloads.sources import FileRow
    from workloads.workload import Inputs, Source

CATEGORIES: Final = ("base", "miss_func", "miss_param", "long_context")
_ROWS: Final = 200
_MOST_STEPS: Final = 20
_MORE_FUNCTIONS: Final = "I have updated some more functions you can choose from. What about now?"


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a row."""
    index = 0
    documented = {name: [row.value for row in inputs.more(_functions_of(name))] for name in MODULES}
    for category in _chosen(inputs.options["category"]):
        rows = inputs.more(category)
        answers = as_many(rows, inputs.more(_answers_of(category)))
        for row, answer in zip(rows, answers, strict=True):
            yield _question(index, category, row, answer, documented)
            index += 1


def _chosen(text: str) -> Sequence[str]:
    wanted = set(CATEGORIES if text == "all" else text.split("+"))
    for part in sorted(wanted - set(CATEGORIES)):
        raise TaskError(
            f"bfcl_multi_turn: category={text}: there is no {part!r}{did_you_mean(part, CATEGORIES)}; "
            f"there are all, {', '.join(CATEGORIES)}, and several of them with + between"
        )
    return [name for name in CATEGORIES if name in wanted]


def _question(
    index: int, category: str, row: FileRow, answer: FileRow, documented: Mapping[str, Sequence[Any]]
) -> Question:
    classes = texts(row, "involved_classes")
    if unknown := [name for name in classes if name not in MODULES]:
        raise ColumnError(f"{row.place}: 'involved_classes': unknown service {unknown[0]!r}")
    for name in classes:
        service_class(name)
    if answer["id"] != row["id"]:
        raise ColumnError(f"{answer.place}: the answer to {answer['id']!r}, where {row['id']!r} should be")
    turns = row["question"]
    if not isinstance(turns, list) or len(turns) != len(answer["ground_truth"]):
        raise ColumnError(f"{row.place}: 'question' must be a list of as many turns as the answer has")
    world = {
        "classes": classes,
        "config": row["initial_config"],
        "long_context": category == "long_context",
    }
    functions = [function for name in classes for function in documented[name]]
    missing = row.value.get("missed_function", {}) if not isinstance(row.value, str) else {}
    held_back = {name for names in missing.values() for name in names}
    tools = _tools(function for function in functions if function["name"] not in held_back)
    later = {
        turn: _tools(function for function in functions if function["name"] in names)
        for turn, names in missing.items()
    }
    sample = EpisodeSample(
        index,
        last_text(turns[0]),
        chat=tuple(turns[0]),
        tools=tools,
        tags={"category": category},
        episode=EpisodeProgram(f"{__name__}:play", {**world, "turns": turns[1:], "later_tools": later}),
    )
    return Question(row["id"], sample, {**world, "ground_truth": answer["ground_truth"]})


def _tools(functions: Any) -> tuple[Mapping[str, Any], ...]:
    return as_tools([with_hints(function, "python") for function in functions])


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Play all turns; the details have the calls that could be read, by turn and by step."""
    data = sample.episode.data
    services = Services(data["classes"], data["config"], long_context=data["long_context"])
    conversation, tools = sample.messages(), list(sample.tools)
    turns: list[list[list[dict[str, Any]]]] = []
    for number, messages in enumerate([[], *data["turns"]]):
        more_tools = data["later_tools"].get(str(number))
        if more_tools is not None:
            tools += more_tools
        conversation += messages or ([] if number == 0 else [{"role": "user", "content": _MORE_FUNCTIONS}])
        steps = await _turn(ask, conversation, tools, services)
        turns.append([step for step in steps if step])
        if len(steps) > _MOST_STEPS:
            return EpisodeResult(conversation, finish_reason="too_many_steps", details={"turns": turns})
    return EpisodeResult(conversation, details={"turns": turns})


async def _turn(
    ask: Ask, conversation: list[Message], tools: Sequence[Mapping[str, Any]], services: Services
) -> list[list[dict[str, Any]]]:
    """Let the model take steps until one has no call that can be read; the calls of each step."""
    steps: list[list[dict[str, Any]]] = []
    while len(steps) <= _MOST_STEPS:
        reply = await ask(conversation, tools=tools)
        conversation.append(reply.message)
        # Officially, a step with a call that cannot be read is left out.
        calls: list[dict[str, Any]] = [
            {"name": call.name, "arguments": call.arguments} for call in reply.read_calls() or ()
        ]
        for call, made in zip(calls, reply.tool_calls, strict=False):
            with ask.tool(call["name"], made["function"].get("arguments")) as record:
                record.result = services.call(ServiceCall(**call))
            conversation.append(_result(made, record.result))
        if not calls:
            # Servers refuse a conversation that goes on after a call without its result.
            conversation += [_result(made, "Error: the arguments are not JSON") for made in reply.tool_calls]
            return steps
        steps.append(calls)
    return steps


def _result(call: Mapping[str, Any], text: str) -> Message:
    return {"role": "tool", "tool_call_id": call.get("id", ""), "content": text}


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where state and results are right after each turn."""
    if answer.episode is None or "turns" not in answer.episode.details:
        ending = "not an episode" if answer.episode is None else answer.episode.ending
        return unparsed(f"the conversation was not played to its end: {ending}")
    turns = answer.episode.details["turns"]
    fault = fault_of(reference, turns)
    calls = sum(len(step) for steps in turns for step in steps)
    return graded(fault is None, f"{calls} calls in {len(turns)} turns", fault or "", calls=float(calls))


def _require(reference: Reference) -> None:
    for name in reference["classes"]:
        service_class(name)


def _functions_of(service: str) -> str:
    return f"functions of {service}"


def _answers_of(category: str) -> str:
    return f"{category} answers"


def _source(category: str, folder: str = "", columns: tuple[str, ...] = ("ground_truth",)) -> Source:
    return published(f"{FILES}multi_turn_{category}.json", ("id", *columns), folder, _ROWS)


_QUESTIONS: Final = {
    name: _source(name, columns=("question", "initial_config", "involved_classes")) for name in CATEGORIES
}

WORKLOAD: Final = benchmark(
    "bfcl_multi_turn",
    questions,
    source=replace(
        _QUESTIONS["base"],
        files=(f"{FILES}multi_turn_*.json*", f"bfcl_v4/{FILES}multi_turn_*.json*"),
        rows=None,
    ),
    further={
        **_QUESTIONS,
        **{_answers_of(name): _source(name, "possible_answer") for name in CATEGORIES},
        **{
            _functions_of(name): published(f"{module}.json", ("name", "parameters"), "multi_turn_func_doc")
            for name, module in MODULES.items()
        },
    },
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            *by_tag("category", CATEGORIES),
        ),
        require=_require,
    ),
)
