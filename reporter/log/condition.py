"""Parts of the requests, by their endpoints, turns and tags, as SQL over `samples` or `arrived`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rulesets.evidence import Where

_OWN: Final = {"endpoint": "endpoint", "turn": "turn::VARCHAR"}
"""What every request has without a tag; a tag of such a name is called `tag:endpoint`."""


def condition(where: Where) -> str:
    """SQL that is true of the requests of a part; of all of them for an empty one."""
    return " AND ".join(f"{_value(name)} = {quoted(value)}" for name, value in where) or "true"


def value_of_tag(tag: str) -> str:
    """SQL for what a request has for a tag."""
    path = "/" + tag.replace("~", "~0").replace("/", "~1")
    return f"json_extract_string(tags, {quoted(path)})"


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def _value(name: str) -> str:
    return _OWN[name] if name in _OWN else value_of_tag(name.removeprefix("tag:"))
