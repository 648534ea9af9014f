"""The mocked tools of ToolCall-15: stevibe/ToolCall-15 at e3003c95, `lib/benchmark.ts`."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.calculation import calculated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ARITHMETIC: Final = re.compile(r"[\d\s()+\-*/.%]+")
_TRANSLATIONS: Final = {
    "spanish": "¿Dónde está el hospital más cercano?",
    "japanese": "最寄りの病院はどこですか？",  # noqa: RUF001 (as the benchmark has it)
}


def tools() -> list[dict[str, Any]]:
    """The twelve tools that every scenario offers, in OpenAI's format."""
    return [{"type": "function", "function": tool} for tool in _data("tools")["tools"]]


@cache
def _data(name: str) -> Any:
    """The tools, or the results that do not depend on arguments, by scenario and tool."""
    text = files(__package__).joinpath("data", f"toolcall15_{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


def result_of(scenario: str, name: str, arguments: Mapping[str, Any], earlier: Sequence[str]) -> str:
    """The result of a tool, as JSON text."""
    fixed = _data("results").get(scenario, {}).get(name)
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
