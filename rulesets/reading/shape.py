"""The allowed content at a place of a document: a reader and a JSON schema.

Both halves of a shape are made side by side, so that an editor which knows the schema and the reader agree.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from rulesets.errors import listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from rulesets.document import DocumentPart

_DEEPEST: Final = 12
"""No free value has more levels."""


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a document, and the place.

    Attributes:
        value: Text, a number, a truth, a dict of `Located` by name, or a list of `Located`.
    """

    value: Any
    part: DocumentPart

    def plain(self) -> Any:
        """The value alone, all the way down."""
        if isinstance(self.value, dict):
            return {name: value.plain() for name, value in self.value.items()}
        if isinstance(self.value, list):
            return [value.plain() for value in self.value]
        return self.value


@dataclass(frozen=True, slots=True)
class Shape:
    """The allowed content somewhere in a document.

    Attributes:
        read: Reads it, or raises `RulesetFileError`.
        schema: The same as JSON schema.
    """

    read: Callable[[DocumentPart], Located]
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Law:
    """A condition on a number.

    Attributes:
        words: In words, for "must be …".
    """

    words: str
    holds: Callable[[float], bool]
    schema: Mapping[str, Any]


ANY_NUMBER: Final = Law("a number", lambda _: True, {})
SHARE: Final = Law(
    "a share from 0 to 1 (0.05 is 5 %)", lambda share: 0 <= share <= 1, {"minimum": 0, "maximum": 1}
)
CHANCE: Final = Law(
    "a share above 0 and below 1 (0.05 is 5 %)",
    lambda share: 0 < share < 1,
    {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
)
ERROR_RATE: Final = Law(
    "a fraction from 0 to below 1 (0.01 is one in a hundred)",
    lambda rate: 0 <= rate < 1,
    {"minimum": 0, "exclusiveMaximum": 1},
)
POSITIVE: Final = Law("a number above 0", lambda number: number > 0, {"exclusiveMinimum": 0})
SECONDS: Final = Law("a number of seconds above 0", lambda seconds: seconds > 0, {"exclusiveMinimum": 0})
NOT_NEGATIVE: Final = Law("a number from 0 up", lambda number: number >= 0, {"minimum": 0})
COUNT: Final = Law("a whole number from 1 up", lambda count: count >= 1, {"minimum": 1})
COUNT_OR_NONE: Final = Law("a whole number from 0 up", lambda count: count >= 0, {"minimum": 0})
SEED: Final = Law(
    "a whole number from 0 to below 2^64",
    lambda seed: 0 <= seed < 2**64,
    {"minimum": 0, "maximum": 2**64 - 1},
)


def text() -> Shape:
    """Text that is not blank."""
    return Shape(lambda part: Located(part.text(), part), {"type": "string", "pattern": r"\S"})


def written(pattern: str, what: str) -> Shape:
    """Text of a form.

    Args:
        pattern: The form, as a regular expression that Python and JSON schema share.
        what: The form in words, for "must be …".
    """

    def read(part: DocumentPart) -> Located:
        text_of_part = part.text()
        if not re.fullmatch(pattern, text_of_part):
            raise part.error(f"must be {what}, not {text_of_part!r}")
        return Located(text_of_part, part)

    return Shape(read, {"type": "string", "pattern": rf"^\s*({pattern})\s*$"})


def texts() -> Shape:
    """A text, or a list of texts; read as a list."""

    def read(part: DocumentPart) -> Located:
        lines = part.sequence() if part.is_sequence() else [part]
        return Located([Located(line.text(), line) for line in lines], part)

    text_schema = text().schema
    return Shape(read, {"anyOf": [text_schema, {"type": "array", "items": text_schema}]})


def truth() -> Shape:
    """True or false."""
    return Shape(lambda part: Located(part.truth(), part), {"type": "boolean"})


def number(law: Law = ANY_NUMBER) -> Shape:
    """A number that keeps a law."""

    def read(part: DocumentPart) -> Located:
        value = part.number()
        if not law.holds(value):
            raise part.error(f"must be {law.words}, not {value:g}")
        return Located(value, part)

    return Shape(read, {"type": "number", **law.schema})


def whole(law: Law) -> Shape:
    """A whole number that keeps a law."""

    def read(part: DocumentPart) -> Located:
        value = part.number()
        if not value.is_integer() or not law.holds(part.whole()):
            raise part.error(f"must be {law.words}, not {value:g}")
        return Located(part.exact(), part)

    return Shape(read, {"type": "integer", **law.schema})


def choice(names: Collection[str]) -> Shape:
    """One of several words."""

    def read(part: DocumentPart) -> Located:
        word = part.text()
        if word not in names:
            raise part.error(f"there is no {word!r} here; {suggestion(word, names)}")
        return Located(word, part)

    return Shape(read, {"enum": list(names)})


def keys(shapes: Mapping[str, Shape], required: Collection[str] = ()) -> Shape:
    """Keys that are known."""

    def read(part: DocumentPart) -> Located:
        parts = part.mapping(shapes, required)
        return Located({name: shapes[name].read(value) for name, value in parts.items()}, part)

    properties = {name: shape.schema for name, shape in shapes.items()}
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return Shape(read, closed | ({"required": list(required)} if required else {}))


def named(shape: Shape, what: str) -> Shape:
    """Names that are the author's own, each with a value of one shape; at least one."""

    def read(part: DocumentPart) -> Located:
        parts = part.names()
        for name, value in parts.items():
            if not name.strip():
                raise value.error(f"{what} has no name")
        if not parts:
            raise part.error(f"is empty; name at least {what}")
        return Located({name: shape.read(value) for name, value in parts.items()}, part)

    return Shape(
        read,
        {
            "type": "object",
            "additionalProperties": shape.schema,
            "propertyNames": {"pattern": r"\S"},
            "minProperties": 1,
        },
    )


def items(shape: Shape, least: int = 0) -> Shape:
    """A list."""

    def read(part: DocumentPart) -> Located:
        return Located([shape.read(item) for item in part.sequence()], part)

    return Shape(read, {"type": "array", "items": shape.schema} | ({"minItems": least} if least else {}))


def either(scalar: Shape | None = None, mapping: Shape | None = None, sequence: Shape | None = None) -> Shape:
    """One of several shapes, by the kind of the node: scalar, mapping or sequence."""
    shapes = [shape for shape in (scalar, mapping, sequence) if shape is not None]

    def read(part: DocumentPart) -> Located:
        if mapping is not None and part.is_mapping():
            return mapping.read(part)
        if sequence is not None and part.is_sequence():
            return sequence.read(part)
        return shapes[0].read(part)

    return Shape(read, {"anyOf": [shape.schema for shape in shapes]})


def free() -> Shape:
    """Any text, number or truth, or lists and keys of such."""
    return Shape(lambda part: _free(part, 0), {})


def scalar() -> Shape:
    """Any text, number or truth."""
    return Shape(lambda part: Located(part.scalar(), part), {"type": ["string", "number", "boolean"]})


def _free(part: DocumentPart, depth: int) -> Located:
    if depth > _DEEPEST:
        raise part.error("is nested too deeply for a ruleset")
    if part.is_mapping():
        return Located({name: _free(value, depth + 1) for name, value in part.names().items()}, part)
    if part.is_sequence():
        return Located([_free(item, depth + 1) for item in part.sequence()], part)
    return Located(part.scalar(), part)


def one_of(located: Located, names: Collection[str]) -> None:
    """See that exactly one of these keys is there.

    Raises:
        RulesetFileError: None or several are.
    """
    there = [name for name in names if name in located.value]
    if len(there) != 1:
        raise located.part.error(f"needs one of {listing(names)}, not {'both' if there else 'neither'}")
