"""Selection of tools: which a request takes, of one tool set or another. Data of our own.

The scores of the three variants, and the one before them, are those of clchinkc/document-mcp at 7c6a2526,
`benchmarks/metrics.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.plugins.tool_selection.tool_files import PACKAGED, load_model_config
from loadgen.plugins.tool_selection.tool_sets import FORMATS, OPERATIONS, OWN, load_tool_set
from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer
from workloads.workload import Inputs, Source, Typical, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.tool_selection.tool_sets import ToolSet
    from workloads.answer import Answer
    from workloads.sources import FileRow

LEVELS: Final = ("simple", "sequential", "complex", "ambiguous", "edge", "adversarial")
ALL: Final = "all"

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

    A packaged scenario that takes an operation which the tool set has no tool for is left out, with a note.
    """
    options = inputs.options
    tools, mode = options["tools"], _choice("mode", options["mode"], _MODES)
    form, wanted = _choice("format", options["format"], FORMATS), levels(options["levels"])
    chosen = load_tool_set(tools, inputs.data, options["descriptions"])
    inputs.notes.extend(chosen.notes)
    extra: dict[str, Any] = {"mode": mode, "known": [tool.name for tool in chosen.tools]}
    if options["model"] != _NO_MODEL:
        prices = load_model_config(options["model"], inputs.data)
        extra["costs"] = (prices.input_cost, prices.output_cost)
    questions_read: list[Question] = []
    missing = Counter[str]()
    for row in inputs.rows:
        if _level(row) not in wanted:
            continue
        steps = _steps(row, chosen, tools)
        if isinstance(steps, str):
            missing[steps] += 1
            continue
        sample = _sample(len(questions_read), row, chosen, mode, form)
        questions_read.append(Question(_text(row, "id"), sample, {"steps": steps, **extra}))
    if missing:
        operations = ", ".join(missing)
        if not any(question.reference["steps"] for question in questions_read):
            raise ColumnError(
                f"tool_selection: the tool set {tools} has no tool for {operations}; name one in "
                "tool_mapping, or give the tool set separate scenarios"
            )
        inputs.notes.append(
            f"{missing.total()} scenarios left out: the tool set {tools} has no tool for {operations}"
        )
    yield from questions_read


def levels(text: str) -> tuple[str, ...]:
    """The levels that an option names: `all`, or names or `L1` to `L6` with `+` between."""
    if text == ALL:
        return LEVELS
    numbered = {f"l{number}": level for number, level in enumerate(LEVELS, 1)}
    names = [numbered.get(name.strip().lower(), name.strip()) for name in text.split("+")]
    for name in names:
        _choice("levels", name, LEVELS)
    return tuple(level for level in LEVELS if level in names)


def _choice(option: str, value: str, values: Sequence[str]) -> str:
    if value not in values:
        raise TaskError(
            f"tool_selection: {option}={value}: must be {' or '.join(values)}{did_you_mean(value, values)}"
        )
    return value


def _sample(index: int, row: FileRow, tools: ToolSet, mode: str, form: str) -> Sample:
    tags, ask = {"level": _level(row)}, _text(row, "ask")
    if mode == "fc":
        functions = tuple(tool.for_request(form) for tool in tools.tools)
        return Sample(index, ask, _CALLING, tools=functions, tags=tags)
    listed = "\n".join(_listed(tool.name, tool.description(form)) for tool in tools.tools)
    return Sample(index, ask, _NAMING + listed, tags=tags)


def _listed(name: str, description: str) -> str:
    """A tool in a prompt; further lines of the description are indented below the name."""
    first, *more = description.split("\n")
    return "\n".join([f"- {name}: {first}", *(f"  {line}" for line in more)])


def _text(row: FileRow, column: str) -> str:
    value = row[column]
    if not isinstance(value, str) or not value:
        raise ColumnError(f"{row.place}: {column!r} must be text")
    return value


def _level(row: FileRow) -> str:
    level = _text(row, "level")
    if level not in LEVELS:
        raise ColumnError(
            f"{row.place}: 'level' must be one of {', '.join(LEVELS)}, not {level!r}"
            f"{did_you_mean(level, LEVELS)}"
        )
    return level


def _steps(row: FileRow, tools: ToolSet, name: str) -> list[list[str]] | str:
    """For each step the names of the tools that are right; or the operation that no tool is for."""
    expected = row["expect"]
    if not isinstance(expected, list):
        raise ColumnError(f"{row.place}: 'expect' must be a list of steps; [] where no tool is to be called")
    steps = []
    for step in expected:
        valid = step if isinstance(step, list) else [step]
        names = {tools.tool_of(operation) for operation in valid if isinstance(operation, str)} - {None}
        unknown = [operation for operation in valid if not _is_possible(operation, tools)]
        if unknown or not valid:
            raise _no_tool(row, unknown[0] if unknown else "nothing", tools, name)
        if not names:
            return str(valid[0])
        steps.append(sorted(operation for operation in names if operation is not None))
    return steps


def _is_possible(step: object, tools: ToolSet) -> bool:
    """Whether the tool set has a tool for a step, or the step is an operation that a tool set may lack."""
    return isinstance(step, str) and (step in OPERATIONS or tools.tool_of(step) is not None)


def _no_tool(row: FileRow, step: object, tools: ToolSet, name: str) -> ColumnError:
    names = (*tools.operations, *(tool.name for tool in tools.tools))
    near = did_you_mean(step, names) if isinstance(step, str) else ""
    return ColumnError(
        f"{row.place}: 'expect': the tool set {name} has no tool for {step!r}{near}; "
        "name one in its tool_mapping"
    )


def grade(reference: Reference, answer: Answer) -> Score:
    """Right if the called tools match the steps, in order."""
    if reference["mode"] == "prompt":
        raise TaskError(
            "tool_selection:mode=prompt: the answers are text; score them with --scorer tool_selection=text"
        )
    if not answer.tool_calls and not answer.text.strip():
        return unparsed("neither a call nor a word", **_metrics(reference, 0.0))
    return _matched(reference, [_name(call) for call in answer.tool_calls])


def grade_text(reference: Reference, answer: Answer) -> Score:
    """As `grade`, for names in a text: a JSON list, or only names with commas or lines between."""
    names = _names_in(answer.text, reference["known"])
    if names is None:
        return unparsed("no list of names of tools", **_metrics(reference, 0.0))
    return _matched(reference, names)


def _name(call: object) -> str:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else ""


def _names_in(text: str, tool_names: Sequence[str]) -> list[str] | None:
    value = json_in(text, list)
    if value is not None:
        names = [_named(element) for element in value]
        return None if None in names else [name for name in names if name is not None]
    fields = json_in(text, dict)
    if fields is not None:
        name = _named(fields)
        return None if name is None else [name]
    bare = [part.strip(" `'\"") for part in _SEPARATORS.split(text.strip())]
    return bare if set(bare) <= set(tool_names) else None


def _named(value: object) -> str | None:
    """The name that is in a list: alone, or as a member of an object."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("name", "tool") if key in value), None)
    return value if isinstance(value, str) else None


def _matched(reference: Reference, called: Sequence[str]) -> Score:
    steps: Sequence[Sequence[str]] = reference["steps"]
    right = sum(name in step for name, step in zip(called, steps, strict=False))
    longer = max(len(steps), len(called))
    taken = ", ".join(called) or "no call"
    wanted = ", ".join(" or ".join(step) for step in steps) or "no call"
    is_right = right == longer
    share = right / longer if longer else 1.0
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
"""Tokens are those that were counted for the requests. Where none were counted, what depends on them is
not defined."""

_DEFINITION: Final = (
    "this project: the names of the calls, step by step; scores of the variants: "
    "clchinkc/document-mcp@7c6a2526, benchmarks/metrics.py"
)

WORKLOAD: Final = Workload(
    name="tool_selection",
    title="which tools a request takes, of tool sets in YAML (own data)",
    version=2,
    tier=3,
    category="agentic",
    typical=Typical(450, 40, questions=185),
    source=Source(
        files=("tool_selection/scenarios.jsonl", "scenarios.jsonl"),
        columns=("id", "level", "ask", "expect"),
        packaged=PACKAGED,
        licence="Apache-2.0",
    ),
    questions=questions,
    scorers=(
        Scorer("official", 1, grade, _DEFINITION, headlines=HEADLINES),
        Scorer("text", 1, grade_text, _DEFINITION, headlines=HEADLINES, note="Of answers in text."),
    ),
    options={
        "tools": "4-tool",
        "descriptions": OWN,
        "format": FORMATS[0],
        "levels": ALL,
        "model": _NO_MODEL,
        "mode": "fc",
    },
    groups=("level",),
    about="The sets of tools and their options are on [another page](tool-selection.md).\n\n"
    "- **Official**: the right tools, step by step. `text`: by their names in a text.",
    checked="compared: the published table",
)


@dataclass(frozen=True, slots=True)
class Variant:
    """An objective."""

    name: str
    form: str
    metric: str

    @property
    def sql(self) -> str:
        """The score of a set of answers, as an aggregate over `scores`."""
        return next(headline.sql for headline in HEADLINES if headline.name == self.name)


VARIANTS: Final[Mapping[str, Variant]] = {
    variant.name: variant
    for variant in (
        Variant("cost_optimized", "minimal", "50/25/25"),
        Variant("accuracy_balanced", "compact", "ratio"),
        Variant("maximum_accuracy", "full", "accuracy"),
    )
}
