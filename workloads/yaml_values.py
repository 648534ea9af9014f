"""YAML that a user wrote, as plain values, with the bounds of `documents`.

Rulesets, which may have anchors and are read key by key, have `rulesets.document`.
"""

from __future__ import annotations

from typing import Any, Final

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from workloads.documents import DEEPEST, LONGEST_NUMBER, TOO_DEEP, too_long
from workloads.errors import MalformedError

Place = tuple[str | int, ...]
"""Where a value is: keys, and the numbers of list items from 0."""

_MERGE: Final = "tag:yaml.org,2002:merge"
_NUMBERS: Final = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_SHOWN: Final = 60
"""The number of characters of a value that are quoted."""


class NotYAMLError(MalformedError):
    """A text is not YAML that can be read."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem if line is None else f"line {line}: {problem}")
        self.problem = problem
        self.line = line  #: where, counted from 1; None where that is not known


class _Loader(yaml.SafeLoader):
    """Refuses aliases, keys that stand twice, depth and long numbers; every error is a `yaml.YAMLError`."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node; aliases and deep nesting are refused."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            problem = f"no aliases: write out what *{event.anchor} stands for"
            raise ComposerError(None, None, problem, event.start_mark)
        is_nested = self.check_event(yaml.SequenceStartEvent, yaml.MappingStartEvent)
        if is_nested and self._depth >= DEEPEST:
            raise ComposerError(None, None, TOO_DEEP, event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 (PyYAML's)
        """Make keys and values, each key once."""
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    raise ConstructorError(None, None, f"the key {key.value!r} stands twice", key.start_mark)
                keys.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 (PyYAML's)
        """Make a value; an error names the line."""
        if isinstance(node, yaml.ScalarNode) and node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise ConstructorError(None, None, too_long(node.value), node.start_mark)
        try:
            return super().construct_object(node, deep)
        except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
            shown = repr(node.value)[:_SHOWN] if isinstance(node, yaml.ScalarNode) else "the value"
            problem = f"{shown} cannot be read as {node.tag.rpartition(':')[2]}: {error}"
            raise ConstructorError(None, None, problem, node.start_mark) from error


def parse_yaml(text: str) -> Any:
    """Parse YAML of plain values, without aliases and doubled keys; raise `NotYAMLError` with the line."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 (a safe loader)
    except yaml.YAMLError as error:
        raise _not_yaml(error) from error
    except (ValueError, TypeError) as error:
        # PyYAML takes apart what a tag such as !!set promises, without a look at what is there.
        raise NotYAMLError(f"a value does not fit its tag ({error})") from error


def _not_yaml(error: yaml.YAMLError) -> NotYAMLError:
    if not isinstance(error, yaml.MarkedYAMLError):
        return NotYAMLError(" ".join(str(error).split()))
    mark = error.problem_mark
    return NotYAMLError(str(error.problem or error.context), mark.line + 1 if mark else None)


def parse_with_lines(text: str) -> tuple[Any, dict[Place, int]]:
    """Parse YAML with text keys only, and the line of each part, from 1; raise as `parse_yaml`."""
    lines: dict[Place, int] = {}
    try:
        root = yaml.compose(text, Loader=_Loader)
        return (None if root is None else _plain(root, (), lines)), lines
    except yaml.YAMLError as error:
        raise _not_yaml(error) from error


def _plain(node: yaml.Node, place: Place, lines: dict[Place, int]) -> Any:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*place, number), lines) for number, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return _Loader("").construct_object(node)
    values: dict[str, Any] = {}
    for key_node, value in node.value:
        key = key_node.value
        if not isinstance(key, str) or key_node.tag == _MERGE:
            shown = repr(key) if isinstance(key, str) else f"a {key_node.id}"
            raise ConstructorError(None, None, f"{shown} cannot be a key", key_node.start_mark)
        if key in values:
            raise ConstructorError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        lines[*place, key] = key_node.start_mark.line + 1
        values[key] = _plain(value, (*place, key), lines)
    return values
