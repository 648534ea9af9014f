"""ToolCall-15: fifteen scenarios with twelve mocked tools, in five categories (stevibe/ToolCall-15).

A scenario has 2 points for a pass, 1 for a partial result, 0 for a failure: `evaluate` in `lib/benchmark.ts`
at e3003c95.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.evals.environments.toolcall15 import as_text, normal, result_of, tools
from loadgen.plugins.evals.headlines import by_tag, score_of
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.question import Question
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
_SYSTEM: Final = prompt("toolcall15", "system")
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


PASS: Final = 2
PARTIAL: Final = 1
FAIL: Final = 0

_CHAIN: Final = 4
_STANDUP_MINUTES: Final = 30


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    arguments: Mapping[str, Any]
    turn: int

    def has(self, argument: str, text: str) -> bool:
        """Whether an argument contains a text, in any case."""
        return text in as_text(self.arguments.get(argument)).lower()

    def equals(self, argument: str, text: str) -> bool:
        """Whether an argument equals a text, apart from case and surrounding blanks."""
        return normal(self.arguments.get(argument)) == text


class Transcript(NamedTuple):
    """The evidence about a scenario."""

    calls: Sequence[Call]
    answer: str

    def all(self, name: str) -> list[Call]:
        """The calls of a tool."""
        return [call for call in self.calls if call.name == name]

    def first(self, name: str) -> Call | None:
        """The first call of a tool."""
        return next(iter(self.all(name)), None)

    def mentions(self, pattern: str) -> bool:
        """Whether the answer matches an expression, in any case."""
        return re.search(pattern, self.answer, re.IGNORECASE) is not None

    def has_number(self, number: str) -> bool:
        """Whether the answer has a number; commas do not matter."""
        return number in self.answer.replace(",", "").lower()

    def asks_back(self) -> bool:
        """Whether the answer asks for clarification."""
        return self.mentions("which|clarify|could you")


def points(scenario: str, transcript: Transcript) -> int:
    """The points of a scenario."""
    return _RULES[scenario](transcript)


def _direct_specialist(transcript: Transcript) -> int:
    weather = any(call.has("location", "berlin") for call in transcript.all("get_weather"))
    web = bool(transcript.all("web_search"))
    if weather and not web and len(transcript.calls) == 1:
        return PASS
    return (
        PARTIAL
        if not weather and web and {call.name for call in transcript.calls} == {"web_search"}
        else FAIL
    )


def _distractors(transcript: Transcript) -> int:
    stock = any(call.equals("ticker", "aapl") for call in transcript.all("get_stock_price"))
    web = bool(transcript.all("web_search"))
    if stock and not web and len(transcript.calls) == 1:
        return PASS
    return PARTIAL if stock and web else FAIL


def _implicit_tool(transcript: Transcript) -> int:
    contact, email = transcript.first("get_contacts"), transcript.first("send_email")
    if (
        contact
        and email
        and contact.turn < email.turn
        and contact.has("query", "sarah")
        and email.equals("to", "sarah.chen@company.com")
    ):
        return PASS
    asks = transcript.mentions("email") and "?" in transcript.answer
    return PARTIAL if not contact and not email and asks else FAIL


def _units(transcript: Transcript) -> int:
    weather = transcript.first("get_weather")
    if weather is None or not weather.has("location", "tokyo"):
        return FAIL
    if weather.equals("units", "fahrenheit"):
        return PASS
    converted = transcript.mentions("fahrenheit") or transcript.has_number("64")
    return PARTIAL if not as_text(weather.arguments.get("units")) and converted else FAIL


def _date_and_time(transcript: Transcript) -> int:
    event = transcript.first("create_calendar_event")
    if event is None:
        return FAIL
    arguments = event.arguments
    if arguments.get("date") != "2026-03-23" or arguments.get("time") != "09:30":
        return FAIL
    attendees = arguments.get("attendees")
    names = [as_text(name).lower() for name in attendees] if isinstance(attendees, list) else []
    invited = all(any(wanted in name for name in names) for wanted in ("alex", "jamie"))
    return PASS if _minutes(arguments.get("duration_minutes")) == _STANDUP_MINUTES and invited else PARTIAL


def _minutes(value: Any) -> float | None:
    """A number, also as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _both_languages(transcript: Transcript) -> int:
    calls = transcript.all("translate_text")
    targets = {
        normal(call.arguments.get("target_language"))
        for call in calls
        if call.equals("source_language", "english")
        and call.arguments.get("text") == "Where is the nearest hospital?"
    }
    bundled = re.compile("spanish.*japanese|japanese.*spanish", re.IGNORECASE)
    is_bundled = any(bundled.search(as_text(call.arguments.get("target_language"))) for call in calls)
    return PASS if targets >= {"spanish", "japanese"} and not is_bundled else FAIL


def _chain(transcript: Transcript) -> int:
    done = sum(_chain_steps(transcript))
    return PASS if done == _CHAIN else PARTIAL if done == _CHAIN - 1 else FAIL


def _chain_steps(transcript: Transcript) -> Iterator[bool]:
    yield any(call.has("query", "q3 budget report") for call in transcript.all("search_files"))
    yield any(call.equals("file_id", "file_091") for call in transcript.all("read_file"))
    yield any(call.has("query", "manager") for call in transcript.all("get_contacts"))
    yield any(
        call.equals("to", "jordan.park@company.com") and call.has("body", "4.4m")
        for call in transcript.all("send_email")
    )


def _condition(transcript: Transcript) -> int:
    weather, reminder = transcript.first("get_weather"), transcript.first("set_reminder")
    if (
        weather
        and reminder
        and weather.turn < reminder.turn
        and reminder.has("message", "umbrella")
        and as_text(reminder.arguments.get("datetime")).startswith("2026-03-21T08:00:00")
    ):
        return PASS
    return PARTIAL if weather and not reminder and transcript.asks_back() else FAIL


def _two_requests(transcript: Transcript) -> int:
    weather = any(call.has("location", "london") for call in transcript.all("get_weather"))
    stock = any(call.equals("ticker", "msft") for call in transcript.all("get_stock_price"))
    if weather and stock:
        return PASS
    return PARTIAL if transcript.all("web_search") else FAIL


def _trivial(transcript: Transcript) -> int:
    return PASS if not transcript.calls and transcript.has_number("1945") else FAIL


def _mental_arithmetic(transcript: Transcript) -> int:
    if not transcript.has_number("30"):
        return FAIL
    if not transcript.calls:
        return PASS
    return PARTIAL if transcript.all("calculator") and not transcript.all("web_search") else FAIL


def _impossible(transcript: Transcript) -> int:
    refuses = transcript.mentions("cannot|can't|do not have|don't have|not able")
    return PASS if not transcript.calls and refuses and transcript.mentions("delete|available tool") else FAIL


def _empty_results(transcript: Transcript) -> int:
    searches = len(transcript.all("search_files"))
    return PASS if searches > 1 or (searches == 1 and transcript.asks_back()) else FAIL


def _failing_tool(transcript: Transcript) -> int:
    if not transcript.all("get_stock_price"):
        return FAIL
    searched = bool(transcript.all("web_search"))
    acknowledged = transcript.mentions("temporarily unavailable|rate limit|service|couldn't|get_stock_price")
    if acknowledged and (not searched or transcript.mentions("web search|try again|fallback")):
        return PASS
    return PARTIAL if searched else FAIL


def _exact_value(transcript: Transcript) -> int:
    search, calculator = transcript.first("web_search"), transcript.first("calculator")
    if search and calculator:
        expression = as_text(calculator.arguments.get("expression")).replace(",", "")
        return PASS if search.has("query", "population of iceland") and "372520" in expression else FAIL
    return PARTIAL if search and transcript.has_number("7450.4") else FAIL


_RULES: Final[Mapping[str, Callable[[Transcript], int]]] = {
    "TC-01": _direct_specialist,
    "TC-02": _distractors,
    "TC-03": _implicit_tool,
    "TC-04": _units,
    "TC-05": _date_and_time,
    "TC-06": _both_languages,
    "TC-07": _chain,
    "TC-08": _condition,
    "TC-09": _two_requests,
    "TC-10": _trivial,
    "TC-11": _mental_arithmetic,
    "TC-12": _impossible,
    "TC-13": _empty_results,
    "TC-14": _failing_tool,
    "TC-15": _exact_value,
}


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
    official=ScoreRule(
        grade,
        headlines=(
            Headline("score", f"round(list_avg([{', '.join(map(_percent, CATEGORIES))}]))", "number"),
            *by_tag("category", CATEGORIES),
        ),
    ),
)
