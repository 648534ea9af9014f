"""Descriptions of tools: the form for optimizers, and the file for `descriptions=`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.sessions.files.plain_files import as_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.tool_selection.tool_sets import ToolSet

WORDS: Final = ("what", "when", "returns")
LONGEST: Final = 2000
"""The most characters of one part of a description."""

Descriptions = dict[str, str]
"""By tool, its parts as JSON in the order of `WORDS`: `{"what": "Find a note.", "when": "…"}`.

A flat mapping of texts is what GEPA evolves.
"""


def descriptions_of(tools: ToolSet, form: str) -> Descriptions:
    """The parts of the descriptions that a format shows."""
    return {tool.name: _packed(tool.words, form) for tool in tools.tools}


def parts_of(description: str) -> dict[str, str]:
    """The parts of a description: `what`, `when`, `returns`."""
    parts: dict[str, str] = orjson.loads(description)
    return parts


def proposed_in(reply: str, tools: Descriptions, form: str) -> Descriptions:
    """The changed descriptions in a model's reply; empty without usable ones.

    Args:
        reply: A JSON object by tool, alone or in a fenced block; a tool's value is an object with `what`,
            `when` and `returns`, or a text, which is `what`.
        tools: The descriptions of today: other tools are ignored, and so are texts that are empty or longer
            than `LONGEST`.
        form: The format, which names the parts that matter.
    """
    proposal = json_in(reply, dict) or {}
    changed = {}
    for tool, description in tools.items():
        words = _words_in(proposal.get(tool), parts_of(description))
        if words is not None and (text := _packed(words, form)) != description:
            changed[tool] = text
    return changed


def _words_in(value: object, before: Mapping[str, str]) -> dict[str, str] | None:
    """The parts of one tool; None for an unusable reply."""
    words = {"what": value} if isinstance(value, str) else value
    if not isinstance(words, dict):
        return None
    texts = {name: words.get(name, before.get(name)) for name in WORDS}
    usable = {name: text.strip() for name, text in texts.items() if isinstance(text, str) and text.strip()}
    return usable if "what" in usable and all(len(text) <= LONGEST for text in usable.values()) else None


def _packed(words: Mapping[str, str], form: str) -> str:
    shown = ("what",) if form == "minimal" else WORDS
    return orjson.dumps({name: words[name] for name in shown if name in words}).decode()


def to_yaml(name: str, style: str, descriptions: Descriptions) -> bytes:
    """The file of a description style, for `loadgen accuracy tool_selection:descriptions=…`."""
    tools: list[dict[str, Any]] = [{"name": tool, **parts_of(text)} for tool, text in descriptions.items()]
    return as_yaml({"name": name, "style": style, "tools": tools})
