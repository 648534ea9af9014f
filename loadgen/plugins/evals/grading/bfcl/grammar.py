"""Java and JavaScript as trees, by the benchmark's own grammars."""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

from loadgen.plugins.evals.grading.decoded_calls import UndecodableError
from workloads.errors import ExtraError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST: Final = 20_000
"""Characters of source code: right calls have some hundred, and the grammars are quadratic in some texts."""


def tree(source: str, language: Literal["java", "javascript"]) -> Node:
    """Parse source code.

    Returns:
        The root of the tree.

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
