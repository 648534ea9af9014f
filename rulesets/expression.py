"""The short form of a target, as a command line takes it: `ttft:p(99)<500ms`.

    EXPRESSION := METRIC [ ':' STAT ] OP NUMBER [ UNIT ] [ '!' SEVERITY ]

It is read from left to right, one part after the other, with white space allowed between the parts.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rulesets.errors import ExpressionError, TargetError
from rulesets.target import Target, spell

if TYPE_CHECKING:
    from collections.abc import Mapping

_PARTS: Final = (
    ("metric", re.compile(r"([A-Za-z]\w*)"), "a metric"),
    ("stat", re.compile(r":\s*([^<>=!]*)"), None),
    ("op", re.compile(r"([<>=!]+)"), "an operator"),
    ("value", re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"), "a number"),
    ("unit", re.compile(r"([A-Za-z%][\w%/]*)"), None),
    ("severity", re.compile(r"!\s*(\w*)"), None),
)
"""Name, pattern, and how it is called when it is missing; what has no such name can be left out."""

_HOW: Final = (
    "a requirement is METRIC:STAT OP NUMBER UNIT, then !warn or !info if it must not fail the run, "
    "for example 'ttft:p(99)<500ms' or 'error<1%'"
)


def parse(text: str) -> Target:
    """Read a short form.

    Returns:
        The target; its id is the short form as `unparse` writes it.

    Raises:
        ExpressionError: It does not follow the grammar, or names what does not exist.
    """
    parts, columns = _scan(text)
    try:
        target = Target.of(
            metric=parts["metric"],
            stat=parts.get("stat"),
            op=parts["op"],
            value=float(parts["value"]),
            unit=parts.get("unit"),
            severity=parts.get("severity", "fail"),
        )
    except TargetError as error:
        raise ExpressionError(text, columns[error.part], str(error)) from error
    return replace(target, id=unparse(target))


def unparse(target: Target) -> str:
    """Write the short form of a target. It has no place for `id` and `source`."""
    where = ",".join(f"{tag}:{value}" for tag, value in target.where)
    filtered = f"{{{where}}}" if where else ""
    number = repr(target.value).removesuffix(".0")
    severity = "" if target.severity == "fail" else f"!{target.severity}"
    return f"{target.metric}{filtered}:{spell(target.stat)}{target.op}{number}{target.unit}{severity}"


def _scan(text: str) -> tuple[Mapping[str, str], Mapping[str, int]]:
    """Split a short form into its parts and the column of each, be it there or missing."""
    parts: dict[str, str] = {}
    columns: dict[str, int] = {}
    at = _skip(text, 0)
    for name, pattern, needed in _PARTS:
        columns[name] = at + 1
        match = pattern.match(text, at)
        if match:
            parts[name] = match[1].strip()
            columns[name] = match.start(1) + 1
            at = _skip(text, match.end())
        elif needed:
            raise ExpressionError(text, at + 1, f"{needed} is missing{_before(text, at)}; {_HOW}")
    if at < len(text):
        raise ExpressionError(text, at + 1, f"{text[at:]!r} is too much; {_HOW}")
    return parts, columns


def _skip(text: str, at: int) -> int:
    """Step over white space."""
    return len(text) - len(text[at:].lstrip())


def _before(text: str, at: int) -> str:
    return f" before {text[at:]!r}" if at < len(text) else ""
