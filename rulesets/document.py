"""A YAML document whose parts keep line numbers for error messages.

Nodes are read one at a time as the reader asks for them, and become only text, numbers and booleans: no tag
of a file can construct an object. Anchors, aliases and merge keys (`<<`) work as in YAML; nested aliases are
expanded only up to the size of a ruleset.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import yaml

from lazy_dataclasses import dataclass, replace
from rulesets.errors import RulesetFileError, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

MOST_BYTES: Final = 256 * 1024
"""No ruleset is longer; parsing a file that is made to be long would be slow."""

MOST_PARTS: Final = 50_000
"""No ruleset has more keys and items, counting each use of an alias."""

_TEXT = "tag:yaml.org,2002:str"
_NULL = "tag:yaml.org,2002:null"
_TRUTH = "tag:yaml.org,2002:bool"
_WHOLE = "tag:yaml.org,2002:int"
_MERGE = "tag:yaml.org,2002:merge"
_NUMBERS = (_WHOLE, "tag:yaml.org,2002:float")
_POWER = re.compile(
    r"(?P<digits>[+-]?\d+)(?P<fraction>\.\d+)?\.?[eE](?P<sign>[+-])?(?P<exponent>\d+)", re.ASCII
)
_FAST: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 100
_DIGITS = 40
"""No whole number of a ruleset has more."""

_REMEDIES = {
    "chomping or indentation": '; put an operator in quotes: ">="',
    "cannot start any token": "; put it in quotes",
}
"""What to do about the mistakes that operators and units invite, of which YAML's own words say little."""


@dataclass(slots=True)
class Budget:
    """How many keys and items of a document may still be read."""

    left: int = MOST_PARTS


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A part of a document.

    Attributes:
        line: Where it stands, counted from 1: the line of its key, if it has one.
        budget: What the whole document may still cost.
        key: How to find it, e.g. `targets[1].unit`; empty for the whole document.
    """

    node: yaml.Node
    file: str
    line: int
    budget: Budget
    key: str = ""

    def error(self, message: str) -> RulesetFileError:
        """Make an error that names the place of this part."""
        return RulesetFileError(self.file, self.line, self.key, message)

    def is_mapping(self) -> bool:
        """Whether this part has keys."""
        return isinstance(self.node, yaml.MappingNode)

    def is_sequence(self) -> bool:
        """Whether this part is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def mapping(self, allowed: Collection[str], required: Collection[str] = ()) -> dict[str, DocumentPart]:
        """Read this part as keys and values, merge keys included.

        Raises:
            RulesetFileError: It is something else, or a key is unknown, stands twice or is missing.
        """
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must hold keys and values ({', '.join(allowed)}), not {self._shown()}")
        parts = self.names()
        for name, part in parts.items():
            if name not in allowed:
                place = replace(part, key=self.key)
                raise place.error(f"unknown key {name!r} here; {suggestion(name, allowed)}")
        for name in required:
            if name not in parts:
                raise self.error(f"the key {name!r} is missing")
        return parts

    def names(self) -> dict[str, DocumentPart]:
        """Read this part as values by names of the author's choice, merge keys included.

        Raises:
            RulesetFileError: It is something else, or a name stands twice.
        """
        return self._pairs(())

    def _pairs(self, within: tuple[yaml.Node, ...]) -> dict[str, DocumentPart]:
        if not isinstance(self.node, yaml.MappingNode):
            raise self.error(f"must hold keys and values, not {self._shown()}")
        if any(node is self.node for node in within):
            raise self.error("merges itself")
        own: dict[str, DocumentPart] = {}
        merged: dict[str, DocumentPart] = {}
        self._spend(len(self.node.value))
        for key_node, value_node in self.node.value:
            place = DocumentPart(key_node, self.file, key_node.start_mark.line + 1, self.budget, self.key)
            if key_node.tag == _MERGE:
                for more in self._merges(replace(place, node=value_node)):
                    merged = more._pairs((*within, self.node)) | merged  # noqa: SLF001 (another of this class)
                continue
            name: str = key_node.value if isinstance(key_node, yaml.ScalarNode) else place._shown()
            if name in own:
                raise place.error(f"the key {name!r} stands twice, first on line {own[name].line}")
            own[name] = replace(place, node=value_node, key=f"{self.key}.{name}".lstrip("."))
        return own | {name: part for name, part in merged.items() if name not in own}

    def _merges(self, value: DocumentPart) -> Iterator[DocumentPart]:
        """The mappings of a merge key: one, or a list in order of precedence."""
        nodes = value.node.value if isinstance(value.node, yaml.SequenceNode) else [value.node]
        self._spend(len(nodes))
        for node in nodes:
            if not isinstance(node, yaml.MappingNode):
                raise value.error(
                    "<< takes keys and values, mostly an alias of some (<<: *name), or a list of such"
                )
            yield replace(value, node=node)

    def _spend(self, parts: int) -> None:
        self.budget.left -= parts
        if self.budget.left < 0:
            raise self.error(f"has more than {MOST_PARTS} parts with its aliases, as no ruleset does")

    def sequence(self) -> list[DocumentPart]:
        """Read this part as a list.

        Raises:
            RulesetFileError: It is something else.
        """
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.error(f"must be a list, not {self._shown()}")
        self._spend(len(self.node.value))
        return [
            DocumentPart(node, self.file, node.start_mark.line + 1, self.budget, f"{self.key}[{index}]")
            for index, node in enumerate(self.node.value)
        ]

    def text(self) -> str:
        """Read this part as text that is not blank.

        Raises:
            RulesetFileError: It is something else.
        """
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error(f"must be text, not {self._shown()}")
        text: str = self.node.value.strip()
        if not text:
            raise self.error("is empty; text that begins with > or | needs quotes")
        if self.node.tag != _TEXT:
            raise self.error(f'must be text; put it in quotes: "{text}"')
        return text

    def number(self) -> float:
        """Read this part as a finite number.

        Raises:
            RulesetFileError: It is something else.
        """
        if self.node.tag not in _NUMBERS:
            raise self.error(
                f"must be a plain number, without unit or quotes, not {self._shown()}{self._as_yaml_has_it()}"
            )
        try:
            number = float(yaml.constructor.SafeConstructor().construct_object(self.node))
        except (ValueError, LookupError, OverflowError, yaml.YAMLError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"must be a finite number, not {self._shown()}")
        return number

    def _as_yaml_has_it(self) -> str:
        """The YAML spelling of a number with an exponent; empty for all else."""
        plain = isinstance(self.node, yaml.ScalarNode) and not self.node.style
        power = _POWER.fullmatch(self.node.value) if plain else None
        if power is None:
            return ""
        rewritten = f"{power['digits']}{power['fraction'] or '.0'}e{power['sign'] or '+'}{power['exponent']}"
        return f"; YAML takes that for text, and wants a dot and the exponent's sign: {rewritten}"

    def whole(self) -> int:
        """Read this part as an exact integer.

        Raises:
            RulesetFileError: It is something else.
        """
        number = self.number()
        if not number.is_integer():
            raise self.error(f"must be a whole number, not {self._shown()}")
        if self.node.tag != _WHOLE or len(self.node.value) > _DIGITS:
            return int(number)
        return int(yaml.constructor.SafeConstructor().construct_object(self.node))

    def exact(self) -> int:
        """Read this part as an integer within JSON's 64 bits.

        Raises:
            RulesetFileError: It is something else, or takes more than 64 bits.
        """
        number = self.whole()
        if not -(2**63) <= number < 2**64:
            raise self.error(f"must be below 2^64, not {self._shown()}")
        return number

    def truth(self) -> bool:
        """Read this part as true or false.

        Raises:
            RulesetFileError: It is something else.
        """
        if not isinstance(self.node, yaml.ScalarNode) or self.node.tag != _TRUTH:
            raise self.error(f"must be true or false, not {self._shown()}")
        value = yaml.constructor.SafeConstructor.bool_values.get(self.node.value.lower())
        if value is None:
            raise self.error(f"must be true or false, not {self._shown()}")
        return bool(value)

    def scalar(self) -> str | float | bool:
        """Read this part as a text, a number or a boolean.

        Raises:
            RulesetFileError: It is nothing, a list, or keys and values.
        """
        if self.node.tag == _TRUTH:
            return self.truth()
        if self.node.tag in _NUMBERS:
            return self.exact() if self.node.tag == _WHOLE else self.number()
        return self.text()

    def _shown(self) -> str:
        """Describe the value, for an error."""
        if isinstance(self.node, yaml.ScalarNode):
            return "nothing" if self.node.tag == _NULL else repr(self.node.value)
        return "a list" if self.is_sequence() else "keys and values"


def read(path: Path) -> DocumentPart:
    """Read a YAML file.

    Raises:
        RulesetFileError: The file does not exist, it cannot be read, is too long, is not YAML, or is empty.
    """
    file = str(path)
    try:
        root = _root(_content(path))
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
    return DocumentPart(root, file, root.start_mark.line + 1, Budget())


def _root(content: str) -> yaml.Node | None:
    """Compose the document.

    libyaml is ten times as fast, where PyYAML has it; but it does not guard against depth, and says less of a
    mistake: what is deep or wrong is read by PyYAML's own parser.
    """
    with suppress(yaml.YAMLError, UnicodeEncodeError):
        if not _is_deep(content):
            return yaml.compose(content, Loader=_FAST)
    return yaml.compose(content, Loader=yaml.SafeLoader)


def _is_deep(content: str) -> bool:
    depth = 0
    for event in yaml.parse(content, Loader=_FAST):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return True
    return False


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
