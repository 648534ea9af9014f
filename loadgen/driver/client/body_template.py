"""A request body with places to fill in: `{"inputs": "{prompt}", "max_new_tokens": "{max_tokens}"}`.

A text that is nothing but a placeholder becomes its value, a number where that is one; inside a longer text
the value is written out. The lists, `messages` and `tools`, stand alone. A member or an element whose value
is absent is left out. Other braces mean themselves, and what is filled in is never looked through for
placeholders.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACEHOLDERS: Final = ("prompt", "system", "messages", "tools", "model", "max_tokens", "temperature", "seed")
_LISTS: Final = frozenset({"messages", "tools"})
_PLACEHOLDER: Final = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
_LIKE_ONE: Final = re.compile(r"\{\w+\}")
_ABSENT: Final = object()


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a template in with a value for each placeholder; None is absent."""
    return _filled(template, values)


def placeholders(template: Any) -> set[str]:
    """The placeholders that occur in a template."""
    return {name for text in _texts(template) for name in _PLACEHOLDER.findall(text)}


def check(template: Any) -> None:
    """Raise ValueError for a template without a place for the prompt, or with an unknown place."""
    names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    for text in _texts(template):
        if _LIKE_ONE.fullmatch(text) and not _PLACEHOLDER.fullmatch(text):
            raise ValueError(f"unknown placeholder {text}; there are {names}")
        if not _PLACEHOLDER.fullmatch(text) and (lists := _LISTS.intersection(_PLACEHOLDER.findall(text))):
            raise ValueError(
                f"has more than {{{min(lists)}}} in a text, but is a list; use the placeholder alone"
            )
    if placeholders(template).isdisjoint({"prompt", "messages"}):
        raise ValueError("has no {prompt} in it, nor {messages}: every request would ask the same")


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, str):
        if (whole := _PLACEHOLDER.fullmatch(template)) is not None:
            value = values.get(whole[1])
            return _ABSENT if value is None else value
        return _PLACEHOLDER.sub(lambda match: _text(values.get(match[1])), template)
    if isinstance(template, dict):
        filled = {name: _filled(member, values) for name, member in template.items()}
        return {name: member for name, member in filled.items() if member is not _ABSENT}
    if isinstance(template, list):
        return [
            element
            for element_template in template
            if (element := _filled(element_template, values)) is not _ABSENT
        ]
    return template


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts(template: Any) -> Iterator[str]:
    """Every text in a template except member names."""
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for inner in template.values() if isinstance(template, dict) else template:
            yield from _texts(inner)
