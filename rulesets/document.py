"""A YAML document whose every part knows where it stands, so that an error can say so.

Nodes are read one at a time as the reader asks for them, and never made into anything but text and numbers:
no tag, alias or merge key of a file can do more than stand in the wrong place, and an alias of an alias of an
alias is never multiplied out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from rulesets.errors import RulesetFileError
from rulesets.nearest import suggestion

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

MOST_BYTES: Final = 256 * 1024
"""No ruleset is longer, and what is made to be long takes its time."""

_TEXT = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

_REMEDIES = {
    "chomping or indentation": '; put an operator in quotes: ">="',
    "cannot start any token": "; put it in quotes",
}
"""What to do about the mistakes that operators and units invite, of which YAML's own words say little."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document.

    Attributes:
        node: What YAML makes of it.
        file: The path of the document.
        line: Where it stands, counted from 1: the line of its key, if it has one.
        key: How to find it, e.g. `targets[1].unit`; empty for the whole document.
    """

    node: yaml.Node
    file: str
    line: int
    key: str = ""

    def error(self, message: str) -> RulesetFileError:
        """Make an error that names the place of this part."""
        return RulesetFileError(self.file, self.line, self.key, message)

    def is_mapping(self) -> bool:
        """Tell whether it has keys."""
        return isinstance(self.node, yaml.MappingNode)

    def is_sequence(self) -> bool:
        """Tell whether it is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def mapping(self, known: Collection[str], required: Collection[str] = ()) -> dict[str, Part]:
        """Read it as keys and values.

        Raises:
            RulesetFileError: It is something else, or a key is unknown, stands twice or is missing.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must hold keys and values ({', '.join(known)}), not {self._shown()}")
        parts: dict[str, Part] = {}
        for key_node, value_node in self.node.value:
            place = Part(key_node, self.file, key_node.start_mark.line + 1, self.key)
            name: str = key_node.value if isinstance(key_node, yaml.ScalarNode) else place._shown()
            if name not in known:
                raise place.error(f"there is no key {name!r} here; {suggestion(name, known)}")
            if name in parts:
                raise place.error(f"the key {name!r} stands twice, first on line {parts[name].line}")
            parts[name] = Part(value_node, self.file, place.line, f"{self.key}.{name}".lstrip("."))
        for name in required:
            if name not in parts:
                raise self.error(f"the key {name!r} is missing")
        return parts

    def sequence(self) -> list[Part]:
        """Read it as a list.

        Raises:
            RulesetFileError: It is something else.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"must be a list, not {self._shown()}")
        return [
            Part(node, self.file, node.start_mark.line + 1, f"{self.key}[{index}]")
            for index, node in enumerate(self.node.value)
        ]

    def text(self) -> str:
        """Read it as text that is not blank.

        Raises:
            RulesetFileError: It is something else.
        """
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"must be text, not {self._shown()}")
        text: str = self.node.value.strip()
        if not text:
            raise self.error("is empty; text that begins with > or | must stand in quotes")
        if self.node.tag != _TEXT:
            raise self.error(f'must be text; put it in quotes: "{text}"')
        return text

    def number(self) -> float:
        """Read it as a finite number.

        Raises:
            RulesetFileError: It is something else.
        """
        if self.node.tag not in _NUMBERS:
            raise self.error(f"must be a plain number, without unit or quotes, not {self._shown()}")
        try:
            number = float(yaml.constructor.SafeConstructor().construct_object(self.node))
        except (ValueError, LookupError, OverflowError, yaml.YAMLError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"must be a finite number, not {self._shown()}")
        return number

    def _shown(self) -> str:
        """Show what stands there, for an error."""
        if isinstance(self.node, yaml.ScalarNode):
            return "nothing" if self.node.tag == _NULL else repr(self.node.value)
        return "a list" if self.is_sequence() else "keys and values"


def read(path: Path) -> Part:
    """Read a YAML file.

    Raises:
        RulesetFileError: There is no such file, it cannot be read, is too long, is not YAML, or is empty.
    """
    file = str(path)
    try:
        root = yaml.compose(_content(path), Loader=yaml.SafeLoader)
    except OSError as error:
        raise RulesetFileError(file, None, "", f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise RulesetFileError(file, None, "", f"is not UTF-8 text (byte {error.start})") from error
    except RecursionError as error:
        raise RulesetFileError(file, None, "", "is nested too deeply for a ruleset") from error
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(file, error) from error
    except yaml.YAMLError as error:
        raise RulesetFileError(file, None, "", f"is not YAML ({error})") from error
    if root is None:
        raise RulesetFileError(file, None, "", "is empty; a ruleset begins with 'schema: rulesets/1'")
    return Part(root, file, root.start_mark.line + 1)


def _content(path: Path) -> str:
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise RulesetFileError(str(path), None, "", "is not a file with an end")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RulesetFileError(str(path), None, "", f"has more than {MOST_BYTES} bytes, as no ruleset does")
    return content.decode()


def _syntax_error(file: str, error: yaml.MarkedYAMLError) -> RulesetFileError:
    mark = error.problem_mark
    line = None if mark is None else mark.line + 1
    problem = error.problem or error.context or "no YAML"
    remedy = next((remedy for words, remedy in _REMEDIES.items() if words in problem), "")
    return RulesetFileError(file, line, "", f"is not YAML here: {problem}{remedy}")
