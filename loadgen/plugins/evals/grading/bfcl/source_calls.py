"""The first call in Java or JavaScript source code, by the benchmark's own grammars.

`f(a=1, b=new int[]{1, 2})`, `f(a=1, b={c: [1, 2]})`.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from loadgen.plugins.evals.grading.json_calls import UndecodableError
from workloads.errors import ExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node, Parser


LONGEST: Final = 20_000
"""Characters of source code: right calls have some hundred, and the grammars are quadratic in some texts."""


def tree(source: str, language: Literal["java", "javascript"]) -> Node:
    """Parse source code.

    Raises:
        UndecodableError: It is not of this language, or longer than `LONGEST`.
        ExtraError: The grammars are not installed.
    """
    if len(source) > LONGEST:
        raise UndecodableError(f"longer than {LONGEST:,} characters")
    root = parser(language).parse(source.encode()).root_node
    if _is_broken(root):
        raise UndecodableError(f"not {'Java' if language == 'java' else 'JavaScript'}")
    return root


def _is_broken(root: Node) -> bool:
    """Whether an error is anywhere in a tree. A missing node does not count, unlike in `has_error`.

    Officially the error is looked for in the tree as text, but writing a very deep one ends the process.
    """
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.is_error:
            return True
        if node is not None and node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False


@cache
def parser(language: Literal["java", "javascript"]) -> Parser:
    """The parser of a language.

    Raises:
        ExtraError: The grammars are not installed.
    """
    try:
        from tree_sitter import Language, Parser

        grammar = import_module(f"tree_sitter_{language}").language()
    except ImportError as error:
        raise ExtraError(
            f"bfcl: reading {language} takes tree-sitter: pip install 'llm-loadgen[bfcl]'"
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # these grammars hand their address over as a number
        return Parser(Language(grammar))


def java_calls(source: str) -> Any:
    """Read the first call.

    Returns:
        A list of one call, whose values are source code, strings without their quotes; `{}` where there is
        none.
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
        arguments = _arguments(
            _field(node, "arguments"), {"identifier", "class_literal"}, self.text, self._value
        )
        return [{called: arguments}]

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
    """A part that must be there."""
    part = node.child_by_field_name(name)
    if part is None:
        raise UndecodableError(f"{node.type} without {name}")
    return part


def javascript_calls(source: str) -> Any:
    """Read the first call that is a complete statement.

    Returns:
        A list of one call, whose values are source code, strings without their quotes; None where there is
        none.
    """
    for statement in tree(source, "javascript").children:
        if statement.type == "expression_statement":
            for node in statement.children:
                if node.type == "call_expression":
                    return [
                        {
                            _text(node.children[0]): _arguments(
                                node.children[1], {"identifier", "true"}, _text, _unquoted
                            )
                        }
                    ]
    return None


def _arguments(
    node: Node, unnamed: set[str], text: Callable[[Node], str], value: Callable[[Node], str]
) -> dict[str | None, str]:
    """The arguments of a call by name; the types of nodes that are arguments without a name differ."""
    arguments: dict[str | None, str] = {}
    for child in node.children:
        if child.type == "assignment_expression":
            name, written = text(child.children[0]), value(child.children[2])
        elif child.type in unnamed:
            name, written = None, value(child)
        else:
            continue
        if name in arguments:
            raise UndecodableError("two arguments have the same name")
        arguments[name] = written
    return arguments


def _unquoted(node: Node) -> str:
    text = _text(node)
    quoted = any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")
    return text[1:-1] if quoted else text


def _text(node: Node) -> str:
    return (node.text or b"").decode()
