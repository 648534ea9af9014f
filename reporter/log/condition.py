"""Parts of the requests, by endpoint, turn and tag, as SQL over `samples` or `arrived`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rulesets.evidence import Where

_OWN: Final = {"endpoint": "endpoint", "turn": "turn::VARCHAR"}
"""What every request has without a tag; a tag of such a name is called `tag:endpoint`."""


def condition(where: Where) -> str:
    """The SQL condition for the requests of a part; true for an empty part."""
    return " AND ".join(f"{_value(name)} = {quoted(value)}" for name, value in where) or "true"


def value_of_tag(tag: str) -> str:
    """The SQL expression for a request's value of a tag."""
    path = "/" + tag.replace("~", "~0").replace("/", "~1")
    return f"json_extract_string(tags, {quoted(path)})"


def quoted(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _value(name: str) -> str:
    return _OWN[name] if name in _OWN else value_of_tag(name.removeprefix("tag:"))
