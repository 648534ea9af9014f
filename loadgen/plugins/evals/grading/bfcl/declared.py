"""The comparison of an argument's type with the declared type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.bfcl.allowed import Fault, shown
from loadgen.plugins.evals.grading.bfcl.java_values import JAVA_TYPES, java_value
from loadgen.plugins.evals.grading.bfcl.javascript_values import JAVASCRIPT_TYPES, javascript_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PYTHON_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}

_WITH_ELEMENTS: Final = frozenset({"Array", "ArrayList", "array"})


@dataclass(frozen=True, slots=True)
class Declared:
    """The type of a parameter."""

    outer: type
    inner: type | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """A language of function declarations.

    Attributes:
        types: The Python types of its types, by their names.
        with_elements: The names of those whose elements are looked at.
        read: Reads a value out of source code; None where values are not source code.
        unread: The fault of a value that is not source code.
    """

    types: Mapping[str, type]
    with_elements: frozenset[str]
    read: Callable[[str, str, str | None], Any] | None = None
    unread: str = ""

    def declared(self, name: str, inner: str | None) -> Declared:
        """A declared type, by the names of the type and of the element type."""
        return Declared(self.types[name], self.types[inner or ""] if name in self.with_elements else None)

    def value(self, argument: Any, name: str, inner: str | None) -> Any:
        """A value in the form for comparison."""
        if self.read is not None:
            return self.read(argument, name, inner if name in self.with_elements else None)
        if name == "tuple" and type(argument) is tuple:
            return list(argument)
        return float(argument) if name == "float" and type(argument) is int else argument


LANGUAGES: Final[Mapping[str, Language]] = {
    "python": Language(PYTHON_TYPES, frozenset({"array", "tuple"})),
    "java": Language(JAVA_TYPES, _WITH_ELEMENTS, java_value, "type_error:java"),
    "javascript": Language(JAVASCRIPT_TYPES, _WITH_ELEMENTS, javascript_value, "type_error:js"),
}


def type_fault(value: Any, allowed: Sequence[Any], declared: Declared) -> Fault | None:
    """The fault of a value's type: neither the declared type nor the type of an allowed value."""
    wanted = declared.outer.__name__
    if type(value) is declared.outer:
        if declared.inner is None or _elements_are(value, allowed, Declared(declared.inner)):
            return None
        if type(value) is type_of(allowed):
            return Fault("type_error:nested", f"not all of {shown(value)} are {declared.inner.__name__}")
    elif type(value) is type_of(allowed):
        return None
    return Fault("type_error:simple", f"{shown(value)} is {type(value).__name__}, not {wanted}")


def _elements_are(value: Any, allowed: Sequence[Any], declared: Declared) -> bool:
    """Whether the elements have the declared type, or the types of an allowed list.

    Anything that is allowed and no list, the mark `""` too, lets them pass.
    """
    return any(
        type(choice) is not list or all(type_fault(item, choice, declared) is None for item in value)
        for choice in allowed
    )


def type_of(allowed: Sequence[Any]) -> type | None:
    """The type of the allowed values; None if only the mark for an optional argument is there."""
    return next((type(choice) for choice in allowed if choice != ""), None)
