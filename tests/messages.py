"""Every message of the program, from the source: errors, findings with remedies, notes, help and labels."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
ROOMS: Final = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")

FOR_MODELS: Final = (
    "loadgen/plugins/evals",
    "loadgen/plugins/tool_selection/selection_task.py",
)
"""Folders whose texts are mostly prompts, tools and references of benchmarks: only errors are messages."""

_CODE: Final = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|WHERE|CASE|JOIN|GROUP BY|ORDER BY|PRAGMA|FILTER|OVER)\b"
    r"|\(\?|\\[bsdw]"
)
"""SQL and regular expressions."""

_FEWEST_WORDS: Final = 3


def messages_of(path: Path) -> list[str]:
    """The messages of a module in source order, with names in place of values; each once."""
    tree = ast.parse(path.read_bytes())
    name = path.relative_to(ROOT).as_posix()
    nodes: Iterator[ast.AST] = ast.walk(tree)
    if name.startswith(FOR_MODELS):
        nodes = (part for node in ast.walk(tree) if isinstance(node, ast.Raise) for part in ast.walk(node))
    texts = sorted({(node.lineno, node.col_offset, text) for node, text in _texts(tree, nodes)})
    return list(dict.fromkeys(text for _, _, text in texts))


def listing() -> str:
    """All messages, by module, as Markdown."""
    parts = [
        (
            "# Messages of the program\n\n"
            "Made by `make golden` from the source: errors, findings, remedies, notes, help texts, labels.\n"
        )
    ]
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if messages := messages_of(path):
                lines = "".join(f"- {text}\n" for text in messages)
                parts.append(f"## {path.relative_to(ROOT).as_posix()}\n\n{lines}")
    return "\n".join(parts)


def _texts(tree: ast.Module, nodes: Iterator[ast.AST]) -> Iterator[tuple[ast.expr, str]]:
    """The prose among the strings of some nodes, without docstrings and parts of longer strings."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            inside |= {
                id(inner)
                for part in node.values
                if isinstance(part, ast.FormattedValue) and part.format_spec
                for inner in ast.walk(part.format_spec)
            }
    for node in nodes:
        if id(node) in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(map(_part, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if "\n" not in text.strip() and not _CODE.search(text) and _is_prose(text):
            yield node, " ".join(text.split())


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return f"{{{_name(part.value)}}}"
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""


def _name(value: ast.expr) -> str:
    """A short name for an interpolated value."""
    match value:
        case ast.Name():
            return value.id
        case ast.Attribute():
            return value.attr
        case ast.Call(func=ast.Name() | ast.Attribute()):
            return _name(value.func)
        case _:
            return "…"


def _is_prose(text: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"\{[^{}]*\}", "", text))
    return " " in text.strip() and len(words) >= _FEWEST_WORDS
