"""YAML that a user wrote, as plain values, with the bounds of `documents`."""

from __future__ import annotations

from typing import Any, Final

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from workloads.documents import DEEPEST, LONGEST_NUMBER, TOO_DEEP, too_long
from workloads.errors import MalformedError

_NUMBERS: Final = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_SHOWN: Final = 60
"""The number of characters of a value that are quoted."""


class Loader(yaml.SafeLoader):
    """Refuses aliases, keys that stand twice, depth and long numbers; every error is a `yaml.YAMLError`."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Compose a node, unless it is an alias or too deep."""
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
        """Make a value; an error names its line."""
        if isinstance(node, yaml.ScalarNode) and node.tag in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise ConstructorError(None, None, too_long(node.value), node.start_mark)
        try:
            return super().construct_object(node, deep)
        except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
            shown = repr(node.value)[:_SHOWN] if isinstance(node, yaml.ScalarNode) else "the value"
            problem = f"{shown} cannot be read as {node.tag.rpartition(':')[2]}: {error}"
            raise ConstructorError(None, None, problem, node.start_mark) from error


def parse_yaml(text: str) -> Any:
    """Parse YAML.

    Raises:
        MalformedError: It is not YAML, nested too deeply, or has an alias, a key twice, a number that is too
            long or a tag that no plain value has; with the line.
    """
    try:
        return yaml.load(text, Loader)  # noqa: S506 (a safe loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise MalformedError(f"{line}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise MalformedError(" ".join(str(error).split())) from error
    except (ValueError, TypeError) as error:
        # PyYAML takes apart what a tag such as !!set promises, without a look at what is there.
        raise MalformedError(f"a value does not fit its tag ({error})") from error


def plain_scalar(node: yaml.Node) -> Any:
    """The value of a scalar.

    Raises:
        yaml.YAMLError: It has none.
    """
    return Loader("").construct_object(node)
