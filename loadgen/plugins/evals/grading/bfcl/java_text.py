"""The first call in Java source code: `f(a=1, b=new int[]{1, 2})`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.grading.bfcl.grammar import tree
from loadgen.plugins.evals.grading.decoded_calls import UndecodableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def java_calls(source: str) -> Any:
    """Read the first call.

    Returns:
        A list of one call, whose values are source code, strings without their quotes; `{}` where there is
        none.

    Raises:
        UndecodableError: It is not Java, or two arguments have one name.
        ExtraError: The grammars are not installed.
    """
    first = next(_invocations(tree(source, "java")), None)
    return {} if first is None else _JavaSource(source).call(first)


def _invocations(node: Node) -> Iterator[Node]:
    """The outermost calls with arguments, in order."""
    if node.type == "method_invocation":
        if node.child_by_field_name("arguments") is not None:
            yield node
        return
    for child in node.children:
        yield from _invocations(child)


class _JavaSource:
    """Java source code for reading nodes.

    A node's text is cut out of the characters by its place in the bytes, as the official parser does it:
    after a character that is not ASCII, every text is a little too far right.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self, node: Node) -> str:
        return self._text[node.start_byte : node.end_byte]

    def call(self, node: Node) -> list[dict[str, dict[str | None, str]]]:
        name, of = _field(node, "name"), node.child_by_field_name("object")
        called = self.text(name) if of is None else f"{self.text(of)}.{self.text(name)}"
        return [{called: self._arguments(_field(node, "arguments"))}]

    def _arguments(self, node: Node) -> dict[str | None, str]:
        arguments: dict[str | None, str] = {}
        for child in node.children:
            if child.type == "assignment_expression":
                name, value = self.text(child.children[0]), self._value(child.children[2])
            elif child.type in {"identifier", "class_literal"}:
                name, value = None, self._value(child)
            else:
                continue
            if name in arguments:
                raise UndecodableError("two arguments have the same name")
            arguments[name] = value
        return arguments

    def _value(self, node: Node, *, nested: bool = False) -> str:
        match node.type:
            case "string_literal" | "character_literal":
                return self.text(node) if nested else self.text(node)[1:-1]
            case "identifier" | "class_literal" | "type_identifier" | "method_invocation":
                return self.text(node)
            case "array_creation_expression":
                return f"new {self._inner(_field(node, 'type'))}[]{self._inner(_field(node, 'value'))}"
            case "object_creation_expression":
                arguments = node.child_by_field_name("arguments")
                nodes = [] if arguments is None else arguments.children
                inner = ", ".join(
                    self._inner(argument) for argument in nodes if argument.type not in {",", "(", ")"}
                )
                return f"new {self._inner(_field(node, 'type'))}({inner})"
        return "".join(map(self._inner, node.children)) if node.child_count else self.text(node)

    def _inner(self, node: Node) -> str:
        return self._value(node, nested=True)


def _field(node: Node, name: str) -> Node:
    """A part that must be there.

    Raises:
        UndecodableError: It is not: `new int[3]` has no values.
    """
    part = node.child_by_field_name(name)
    if part is None:
        raise UndecodableError(f"{node.type} without {name}")
    return part
