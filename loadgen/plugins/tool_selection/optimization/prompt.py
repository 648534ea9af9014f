"""The prompt that asks a model for better descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from loadgen.plugins.tool_selection.optimization.descriptions import parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Answered
    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.scenarios import ToolScenario

_GOALS: Final[Mapping[str, str]] = {
    "cost_optimized": "A description costs tokens in every request: make it as short as possible.",
    "accuracy_balanced": "Correct choices come first. Avoid words that do not help the model to choose.",
    "maximum_accuracy": "Only correct choices count; descriptions may be long.",
}
_PROMPT: Final = """\
A model chooses tools by their descriptions. Improve the descriptions, so that it chooses correctly for \
requests like those below and for others of their kind.

{goal}

The descriptions, as JSON:
{tools}

What the model did with them:
{examples}

A description has the part "what" (what the tool does){more}. Do not mention single requests: describe when \
a tool is the correct one, and how it differs from the others. Answer with a JSON object by tool name, with \
the parts that you change, and nothing else. Leave tools out that need no change."""
_MORE: Final = ', and may have "when" (when to use it, and when not) and "returns" (its result)'


def reflection_prompt(
    objective: str,
    form: str,
    tools: Descriptions,
    answered: Sequence[tuple[ToolScenario, Answered]],
) -> str:
    """Ask for better descriptions."""
    examples = "\n".join(_example(scenario, answer) for scenario, answer in answered)
    return _PROMPT.format(
        goal=_GOALS[objective],
        tools=_as_json(tools),
        examples=examples,
        more="" if form == "minimal" else _MORE,
    )


_ATTEMPTS: Final = """\
A model chooses tools by their descriptions. Below are descriptions that were tried, in increasing order of \
their scores: a higher score is better. Propose descriptions with which it chooses even better. Be creative.

{goal}

{attempts}

A description has the part "what" (what the tool does){more}. Answer with a JSON object by tool name, with \
the parts that you change of the last attempt, and nothing else."""


def attempts_prompt(objective: str, form: str, attempts: Sequence[tuple[Descriptions, float]]) -> str:
    """Ask for better descriptions by the scores of earlier ones."""
    shown = "\n\n".join(
        f"Attempt {number}, score {score:.4f}:\n{_as_json(tools)}"
        for number, (tools, score) in enumerate(attempts, 1)
    )
    more = "" if form == "minimal" else _MORE
    return _ATTEMPTS.format(goal=_GOALS[objective], attempts=shown, more=more)


def _as_json(tools: Descriptions) -> str:
    listed = {tool: parts_of(text) for tool, text in tools.items()}
    return orjson.dumps(listed, option=orjson.OPT_INDENT_2).decode()


def _example(scenario: ToolScenario, answer: Answered) -> str:
    steps = ", ".join(" or ".join(step) for step in scenario.expected) or "no tool"
    verdict = "correct" if answer.correct else f"wrong, correct is: {steps}"
    return f"- Request: {scenario.ask}\n  The model chose: {answer.called} ({verdict})"
