"""The mocked tools of ToolCall-15: stevibe/ToolCall-15 at e3003c95, `lib/benchmark.ts`."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.calculation import calculated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ARITHMETIC: Final = re.compile(r"[\d\s()+\-*/.%]+")
_ALEX_AND_JAMIE: Final = [
    {"name": "Alex Stone", "email": "alex.stone@company.com"},
    {"name": "Jamie Liu", "email": "jamie.liu@company.com"},
]
_RESULTS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "TC-01": {
        "get_weather": {
            "location": "Berlin",
            "temperature": 8,
            "units": "celsius",
            "condition": "Overcast",
            "humidity": 72,
        },
        "web_search": {"results": [{"snippet": "Berlin weather right now: 8C and overcast."}]},
    },
    "TC-02": {
        "get_stock_price": {
            "ticker": "AAPL",
            "price": 187.42,
            "currency": "USD",
            "change": "+1.23",
            "change_percent": "+0.66%",
        },
        "web_search": {"results": [{"snippet": "AAPL is trading around $187.42."}]},
    },
    "TC-03": {
        "get_contacts": {"results": [{"name": "Sarah Chen", "email": "sarah.chen@company.com"}]},
        "send_email": {"status": "sent", "message_id": "msg_8821"},
    },
    "TC-05": {"get_contacts": {"results": _ALEX_AND_JAMIE}},
    "TC-07": {
        "search_files": {"results": [{"file_id": "file_091", "name": "Q3_Budget_Report_2025.xlsx"}]},
        "read_file": {
            "content": "Department budgets: Engineering $2.1M, Marketing $800K, Sales $1.5M. Total: $4.4M"
        },
        "get_contacts": {
            "results": [{"name": "Jordan Park", "email": "jordan.park@company.com", "role": "manager"}]
        },
        "send_email": {"status": "sent"},
    },
    "TC-08": {
        "get_weather": {"location": "Paris", "temperature": 11, "condition": "Light rain", "humidity": 89},
        "set_reminder": {"reminder_id": "rem_553", "status": "set"},
    },
    "TC-09": {
        "get_weather": {"location": "London", "temperature": 12, "condition": "Cloudy"},
        "get_stock_price": {"ticker": "MSFT", "price": 412.78, "currency": "USD"},
        "web_search": {"results": [{"snippet": "London is cloudy at 12C and MSFT is around $412.78."}]},
    },
    "TC-14": {
        "get_stock_price": {"error": "Service temporarily unavailable. Rate limit exceeded."},
        "web_search": {"results": [{"snippet": "Apple (AAPL) is trading around $187.42."}]},
    },
    "TC-15": {
        "web_search": {
            "results": [{"snippet": "Iceland has a population of approximately 372,520 as of 2025."}]
        },
    },
}
"""Results that do not depend on arguments, by scenario and tool."""

_TRANSLATIONS: Final = {
    "spanish": "¿Dónde está el hospital más cercano?",
    "japanese": "最寄りの病院はどこですか？",  # noqa: RUF001 (as the benchmark has it)
}


def tools() -> list[dict[str, Any]]:
    """The twelve tools that every scenario offers, in OpenAI's format."""
    text = files(__package__).joinpath("data", "toolcall15_tools.json").read_text(encoding="utf-8")
    return [{"type": "function", "function": tool} for tool in json.loads(text)["tools"]]


def result_of(scenario: str, name: str, arguments: Mapping[str, Any], earlier: Sequence[str]) -> str:
    """The result of a tool, as JSON text.

    Args:
        scenario: `TC-01` to `TC-15`.
        name: The tool.
        arguments: As the model gave them.
        earlier: The tools that were called before.
    """
    fixed = _RESULTS.get(scenario, {}).get(name)
    result = fixed or _by_arguments(scenario, name, arguments, earlier) or _anywhere(name, arguments)
    return json.dumps(result, ensure_ascii=False, separators=(",", ":"))


def as_text(value: Any) -> str:
    """A text; empty for any other value."""
    return value if isinstance(value, str) else ""


def normal(value: Any) -> str:
    """A text in lower case, stripped."""
    return as_text(value).strip().lower()


def _by_arguments(
    scenario: str, name: str, arguments: Mapping[str, Any], earlier: Sequence[str]
) -> Mapping[str, Any] | None:
    match scenario, name:
        case "TC-04", "get_weather":
            if normal(arguments.get("units")) == "fahrenheit":
                return {"location": "Tokyo", "temperature": 64, "units": "fahrenheit", "condition": "Clear"}
            return {"location": "Tokyo", "temperature": 18, "units": "celsius", "condition": "Clear"}
        case "TC-05", "create_calendar_event":
            return {
                "event_id": "evt_4412",
                "status": "created",
                "title": as_text(arguments.get("title")) or "Team Standup",
                "date": as_text(arguments.get("date")),
            }
        case "TC-06", "translate_text":
            target = normal(arguments.get("target_language"))
            unsupported = {"error": f"Unsupported target language {target}."}
            return {"translated": _TRANSLATIONS[target]} if target in _TRANSLATIONS else unsupported
        case "TC-13", "search_files":
            return _proposal(normal(arguments.get("query")), is_first=name not in earlier)
    return None


def _proposal(query: str, *, is_first: bool) -> Mapping[str, Any] | None:
    """Files that a search finds: the first one with both words finds none."""
    if "johnson proposal" in query and is_first:
        return {"results": []}
    if "johnson" in query:
        return {"results": [{"file_id": "file_117", "name": "Johnson_Project_Proposal_v2.docx"}]}
    return None


def _anywhere(name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result of a tool in scenarios without a special result."""
    match name:
        case "calculator":
            number = _number(as_text(arguments.get("expression")))
            return {"error": "Invalid expression."} if number is None else {"result": number}
        case "web_search":
            return {"results": [{"snippet": f"Search results for {as_text(arguments.get('query'))}"}]}
        case "run_code":
            return {"error": "Code execution is disabled in benchmark mocks."}
    return {"error": f"Tool {name} is not relevant for this scenario."}


def _number(expression: str) -> float | None:
    """The value of an arithmetic expression; None for any other text."""
    plain = expression.replace(",", "").strip()
    if not _ARITHMETIC.fullmatch(plain):
        return None
    try:
        value = calculated(plain)
    except Exception:  # noqa: BLE001 (whatever is wrong with the expression of a model)
        return None
    return int(value) if float(value).is_integer() else value
