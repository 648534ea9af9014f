"""The first call in JavaScript source code: `f(a=1, b={c: [1, 2]})`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.grading.bfcl.grammar import tree
from loadgen.plugins.evals.grading.decoded_calls import UndecodableError

if TYPE_CHECKING:
    from tree_sitter import Node


def javascript_calls(source: str) -> Any:
    """Read the first call that is a complete statement.

    Returns:
        A list of one call, whose values are source code, strings without their quotes; None where there is
        none.

    Raises:
        UndecodableError: It is not JavaScript, or two arguments have one name.
        ExtraError: The grammars are not installed.
    """
    for statement in tree(source, "javascript").children:
        if statement.type == "expression_statement":
            for node in statement.children:
                if node.type == "call_expression":
                    return [{_text(node.children[0]): _arguments(node.children[1])}]
    return None


def _arguments(node: Node) -> dict[str | None, str]:
    arguments: dict[str | None, str] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name, value = _text(child.children[0]), _unquoted(_text(child.children[2]))
        elif child.type in {"identifier", "true"}:
            name, value = None, _text(child)
        else:
            continue
        if name in arguments:
            raise UndecodableError("two arguments have the same name")
        arguments[name] = value
    return arguments


def _unquoted(text: str) -> str:
    quoted = any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
    return text[1:-1] if quoted else text


def _text(node: Node) -> str:
    return (node.text or b"").decode()
