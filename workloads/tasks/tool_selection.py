"""Selection of tools: which a request takes, of one tool set or another. Data of our own.

The scores of the three variants, and the one before them, are those of clchinkc/document-mcp at 7c6a2526,
`benchmarks/metrics.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.grading.json_answer import json_in
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer
from workloads.tasks.tool_sets import OWN, costs, tool_set
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import Row
    from workloads.tasks.tool_sets import ToolSet

LEVELS: Final = ("simple", "sequential", "complex", "ambiguous", "edge", "adversarial")

_MODES: Final = ("fc", "prompt")
_NO_MODEL: Final = "none"
_CALLING: Final = """\
You act by calling tools. Call every tool that the request takes, in order, in this one answer, without \
waiting for results; a tool that is needed twice is called twice. Where no tool does what is asked, call \
none and answer in words."""
_NAMING: Final = """\
You choose tools. Answer with a JSON list of the names of the tools that the request takes, in order, and \
nothing else; a tool that is needed twice stands there twice. Where no tool does what is asked, the list is \
empty: [].

The tools:
"""
_SEPARATORS: Final = re.compile(r"\s*(?:,|;|\n|->|→)\s*")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One scenario a question, for the tools that were asked for.

    Raises:
        TaskError: There is no such mode.
        SourceError, MalformedError: See `workloads.tasks.tool_sets.tool_set`.
        ColumnError: A scenario is not as it should be, or takes a tool that the tool set does not have.
    """
    options = inputs.options
    mode, tools, style = options["mode"], options["tools"], options["descriptions"]
    if mode not in _MODES:
        raise TaskError(
            f"tool_selection: mode={mode}: must be {' or '.join(_MODES)}{did_you_mean(mode, _MODES)}"
        )
    found = tool_set(tools, style, inputs.data)
    extra: dict[str, Any] = {"mode": mode, "known": [tool.name for tool in found.tools]}
    if options["model"] != _NO_MODEL:
        extra["costs"] = costs(options["model"], inputs.data)
    for index, row in enumerate(inputs.rows):
        reference = {"steps": _steps(row, found, tools), **extra}
        yield Question(_text(row, "id"), _sample(index, row, found, mode), reference)


def _sample(index: int, row: Row, found: ToolSet, mode: str) -> Sample:
    tags, ask = {"level": _level(row)}, _text(row, "ask")
    if mode == "fc":
        told = tuple(tool.for_request() for tool in found.tools)
        return Sample(index, ask, _CALLING, tools=told, tags=tags)
    listed = "\n".join(f"- {tool.name}: {tool.description}" for tool in found.tools)
    return Sample(index, ask, _NAMING + listed, tags=tags)


def _text(row: Row, column: str) -> str:
    value = row[column]
    if not isinstance(value, str) or not value:
        raise ColumnError(f"{row.place}: {column!r} must be text")
    return value


def _level(row: Row) -> str:
    level = _text(row, "level")
    if level not in LEVELS:
        raise ColumnError(
            f"{row.place}: 'level' must be one of {', '.join(LEVELS)}, not {level!r}"
            f"{did_you_mean(level, LEVELS)}"
        )
    return level


def _steps(row: Row, found: ToolSet, tools: str) -> list[list[str]]:
    """For each step the names of the tools that are right."""
    expected = row["expect"]
    if not isinstance(expected, list):
        raise ColumnError(f"{row.place}: 'expect' must be a list of steps; [] where no tool is to be called")
    return [_right(row, step if isinstance(step, list) else [step], found, tools) for step in expected]


def _right(row: Row, valid: Sequence[object], found: ToolSet, tools: str) -> list[str]:
    names = [found.tool_of(one) if isinstance(one, str) else None for one in valid]
    if not names or None in names:
        missing = valid[names.index(None)] if names else "nothing"
        known = (*found.operations, *(tool.name for tool in found.tools))
        near = did_you_mean(missing, known) if isinstance(missing, str) else ""
        raise ColumnError(
            f"{row.place}: 'expect': the tool set {tools} has no tool for {missing!r}{near}; "
            "name one in its tool_mapping"
        )
    return sorted({name for name in names if name is not None})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the tools that were called are those of the steps, each in its place.

    Raises:
        TaskError: The answer was asked for as text.
    """
    if reference["mode"] == "prompt":
        raise TaskError(
            "tool_selection:mode=prompt: the answers are text; score them with --scorer tool_selection=text"
        )
    if not answer.tool_calls and not answer.text.strip():
        return unparsed("neither a call nor a word", **_metrics(reference, 0.0))
    return _matched(reference, [_name(call) for call in answer.tool_calls])


def grade_text(reference: Reference, answer: Answer) -> Score:
    """Likewise of the names in a text: a JSON list, or nothing but names with commas or lines between."""
    names = _names_in(answer.text, reference["known"])
    if names is None:
        return unparsed("no list of names of tools", **_metrics(reference, 0.0))
    return _matched(reference, names)


def _name(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""


def _names_in(text: str, known: Sequence[str]) -> list[str] | None:
    told = json_in(text, list)
    if told is not None:
        names = [_named(one) for one in told]
        return None if None in names else [name for name in names if name is not None]
    one = json_in(text, dict)
    if one is not None:
        name = _named(one)
        return None if name is None else [name]
    bare = [part.strip(" `'\"") for part in _SEPARATORS.split(text.strip())]
    return bare if set(bare) <= set(known) else None


def _named(told: object) -> str | None:
    """The name that stands in a list: alone, or as a member of an object."""
    if isinstance(told, dict):
        told = next((told[key] for key in ("name", "tool") if key in told), None)
    return told if isinstance(told, str) else None


def _matched(reference: Reference, called: Sequence[str]) -> Score:
    steps: Sequence[Sequence[str]] = reference["steps"]
    right = sum(name in step for name, step in zip(called, steps, strict=False))
    most = max(len(steps), len(called))
    taken = ", ".join(called) or "no call"
    wanted = ", ".join(" or ".join(step) for step in steps) or "no call"
    is_right = right == most
    share = right / most if most else 1.0
    return graded(is_right, taken, "" if is_right else f"should be {wanted}", **_metrics(reference, share))


def _metrics(reference: Reference, share: float) -> dict[str, float]:
    prices = zip(("input_cost", "output_cost"), reference.get("costs", ()), strict=False)
    return {"steps": share, **dict(prices)}


def _of_any(sql: str) -> str:
    """0 where there are no examples."""
    return f"CASE WHEN count(*) = 0 THEN 0 ELSE {sql} END"


_ACCURACY: Final = "avg(value)"
_INPUT: Final = "1 / (1 + avg(input_tokens) / 1000)"
_OUTPUT: Final = "1 / (1 + avg(output_tokens) / 500)"
_TOKENS: Final = "(avg(input_tokens) + avg(output_tokens))"
_EXCESS: Final = f"CASE WHEN {_TOKENS} <= 1500 THEN 0 ELSE {_TOKENS} / 1500 - 1 END"
"""Not `greatest`, to which what is not known is nothing."""
_DOLLARS: Final = "sum(input_tokens * metrics['input_cost'] + output_tokens * metrics['output_cost']) / 1000"
"""A thousand times as many, so that small ones can be read."""

HEADLINES: Final = (
    Headline("accuracy"),
    Headline(
        "cost_optimized", _of_any(f"0.5 * {_ACCURACY} + 0.25 * {_INPUT} + 0.25 * {_OUTPUT}"), unit="number"
    ),
    Headline("accuracy_balanced", _of_any(f"{_ACCURACY} / (1 + {_EXCESS})"), unit="number"),
    Headline("maximum_accuracy", _of_any(_ACCURACY), unit="number"),
    Headline("composite", _of_any(f"0.6 * {_ACCURACY} + 0.25 * {_INPUT} + 0.15 * {_OUTPUT}"), unit="number"),
    Headline("steps", "coalesce(sum(metrics['steps']), 0) / nullif(count(*), 0)"),
    Headline("input_tokens", "avg(input_tokens)", unit="number", better="lower"),
    Headline("output_tokens", "avg(output_tokens)", unit="number", better="lower"),
    Headline("cost_of_1000", f"{_DOLLARS} / nullif(count(*), 0)", unit="number", better="lower"),
    Headline(
        "cost_of_1000_correct",
        f"{_DOLLARS} / nullif(count(*) FILTER (value = 1), 0)",
        unit="number",
        better="lower",
    ),
)
"""Tokens are those that were counted for the requests. Where nobody has counted them, what depends on them is
not defined."""

_DEFINITION: Final = (
    "this project: the names of the calls, step by step; scores of the variants: "
    "clchinkc/document-mcp@7c6a2526, benchmarks/metrics.py"
)

WORKLOAD: Final = Workload(
    name="tool_selection",
    title="which tools a request takes, of tool sets in YAML (own data)",
    version=1,
    source=Source(
        files=("tool_selection/scenarios.jsonl", "scenarios.jsonl"),
        columns=("id", "level", "ask", "expect"),
        packaged=True,
        licence="Apache-2.0",
    ),
    questions=questions,
    scorers=(
        Scorer("official", 1, grade, _DEFINITION, headlines=HEADLINES),
        Scorer("text", 1, grade_text, _DEFINITION, headlines=HEADLINES, note="Of answers in text."),
    ),
    options={"tools": "4-tool", "descriptions": OWN, "model": _NO_MODEL, "mode": "fc"},
    groups=("level",),
)
