"""PinchBench's arithmetic: pinchbench/skill at 14b29939, `scripts/lib_grading.py`.

Its checks are Python that comes with a task: `check_program` makes a program of them, which a sandbox runs.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.json_answer import object_of, objects_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARK: Final = "pinchbench-scores "
_RESULT_CHARACTERS: Final = 200
_JSON_BLOCK: Final = re.compile(r"```json\s*(.*?)\s*```", re.DOTALL)
_PROSE: Final = re.compile(r"(?:total|overall|final)\s*(?:score)?[:\s]*(0\.\d+|1\.0+)", re.IGNORECASE)

_PROGRAM: Final = """\
import json
namespace = {{}}
exec(compile({code!r}, "checks", "exec"), namespace)
scores = namespace["grade"](json.loads({transcript!r}), {folder!r})
numbers = scores.items() if isinstance(scores, dict) else ()
numbers = {{str(name): float(value) for name, value in numbers if isinstance(value, (int, float))}}
print("\\n" + {mark!r} + json.dumps(numbers))
"""


def transcript_of(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A conversation in OpenClaw's format, without a system prompt: parts are objects, calls `toolCall`."""
    return [
        {"type": "message", "message": message}
        for message in map(_message, messages)
        if message["role"] is not None
    ]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    role = {"assistant": "assistant", "tool": "toolResult", "user": "user"}.get(message["role"])
    text = message.get("content")
    content = [{"type": "text", "text": text}] if isinstance(text, str) and text else []
    calls = message.get("tool_calls") or ()
    return {"role": role, "content": [*content, *(_call(call.get("function") or {}) for call in calls)]}


def _call(function: Mapping[str, Any]) -> dict[str, Any]:
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return {"type": "toolCall", "name": function.get("name"), "arguments": arguments}


def summary(transcript: Sequence[Mapping[str, Any]]) -> str:
    """The judge's view of a transcript: calls, beginnings of results, and the user's messages."""
    lines = []
    for event in transcript:
        message = event["message"]
        content = message["content"]
        if message["role"] == "assistant":
            lines += [
                f"Tool: {part['name']}({json.dumps(part['arguments'])})"
                for part in content
                if part["type"] == "toolCall"
            ]
        elif content:
            shown = str(content[0])
            is_result = message["role"] == "toolResult"
            lines.append(f"Result: {shown[:_RESULT_CHARACTERS]}" if is_result else f"User: {shown}")
    return "\n".join(lines)


def check_program(code: str, transcript: Sequence[Mapping[str, Any]], folder: str) -> str:
    """A Python program that runs a task's checks and prints the numbers."""
    return _PROGRAM.format(code=code, transcript=json.dumps(transcript), folder=folder, mark=_MARK)


def check_scores(output: str) -> dict[str, float] | None:
    """The last numbers printed by a check program; None for an incomplete run."""
    last = output.rstrip().rpartition("\n")[2]
    if not last.startswith(_MARK):
        return None
    scores: dict[str, float] = json.loads(last.removeprefix(_MARK))
    return scores


def mean(scores: Mapping[str, float]) -> float:
    """Of all numbers; 0 without one."""
    return sum(scores.values()) / len(scores) if scores else 0.0


def total_in(reply: str) -> float | None:
    """The total of a judge's reply, else the mean of the scores; None without either."""
    text = reply.strip()
    block = _JSON_BLOCK.search(text)
    objects = objects_in(text)
    marked = [value for value in objects if "scores" in value]
    whole = object_of(block[1]) if block else None
    for value in (*([] if whole is None else [whole]), *marked[::-1], *objects[::-1]):
        return _total(value)
    prose = _PROSE.search(text)
    # 1.0 is the most that the pattern allows, with any number of zeros.
    return float(prose[1]) if prose else None


def _total(value: Mapping[str, Any]) -> float | None:
    """`total`, else `score`, else the mean of the scores, each a number or an object with one."""
    if value.get("total") is not None:
        return float(value["total"]) if isinstance(value["total"], int | float) else None
    if isinstance(value.get("score"), int | float):
        return float(value["score"])
    texts = "scores" in value
    scores = value["scores"] if texts else value.get("criteria_scores")
    marks = [_mark(mark, texts=texts) for mark in scores.values()] if isinstance(scores, dict) else []
    numbers = [mark for mark in marks if mark is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _mark(value: Any, *, texts: bool) -> float | None:
    """A number, or the `score` of an object, which can be a text under `scores`; None for anything else."""
    mark = value["score"] if isinstance(value, dict) and "score" in value else value
    if texts and isinstance(mark, str) and mark is not value:
        try:
            return float(mark)
        except ValueError:
            return None
    return float(mark) if isinstance(mark, int | float) else None


def combined(checks: float, judged: float, weights: Mapping[str, float]) -> float:
    """Both parts of a hybrid task by weight (`automated`, `llm_judge`), a half each by default."""
    first, second = float(weights.get("automated", 0.5)), float(weights.get("llm_judge", 0.5))
    if first + second <= 0:
        first = second = 0.5
    return (checks * first + judged * second) / (first + second)
