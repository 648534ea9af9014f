"""The comparison of a value with the allowed values, by type.

A list of allowed values may have `""` in it, which says that the argument may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from reprlib import Repr
from typing import Any, Final

from lazy_dataclasses import dataclass

_SHORT: Final = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlist = _SHORT.maxdict = _SHORT.maxtuple = 8


@dataclass(frozen=True, slots=True)
class Fault:
    """The first fault of a call; `kind` is the benchmark's `error_type`, as in `value_error:string`."""

    kind: str
    detail: str


def shown(value: Any) -> str:
    """A value for a reader: Python notation, shortened if long."""
    return _SHORT.repr(value)


ObjectRule = Callable[[Mapping[str, Any], Sequence[Any]], Fault | None]
"""What is wrong with an object, compared with the objects that are allowed, whose members are lists again."""

_DROPPED: Final = str.maketrans("", "", " ,./-_*^")


def standard(value: Any) -> Any:
    """Text without blanks, some punctuation, case, and differences of quotes."""
    return value.translate(_DROPPED).lower().replace("'", '"') if type(value) is str else value


def text_fault(value: str, allowed: Sequence[Any]) -> Fault | None:
    """The fault of a text argument."""
    if standard(value) in [standard(choice) for choice in allowed if type(choice) is str]:
        return None
    return Fault("value_error:string", f"{shown(value)} is not one of {shown(allowed)}")


def list_fault(value: Sequence[Any], allowed: Sequence[Any]) -> Fault | None:
    """The fault of a list argument; texts in nested lists must be equal exactly."""
    if [standard(item) for item in value] in [[standard(item) for item in choice] for choice in allowed]:
        return None
    return Fault("value_error:list/tuple", f"{shown(value)} is not one of {shown(allowed)}")


def object_fault(value: Mapping[str, Any], allowed: Sequence[Any]) -> Fault | None:
    """The fault of an object, compared with the last allowed object."""
    return of_objects(
        lambda members: _missing_member(value, members) or _wrong_member(value, members), allowed
    )


def of_objects(fault_of: Callable[[Mapping[str, Any]], Fault | None], allowed: Sequence[Any]) -> Fault | None:
    """The fault by the last allowed object; None where one object has none."""
    fault: Fault | None = Fault("dict_checker:unclear", "no object is allowed")
    for members in allowed:
        if members != "" and (fault := fault_of(members)) is None:
            return None
    return fault


def _wrong_member(value: Mapping[str, Any], members: Mapping[str, Any]) -> Fault | None:
    for name, member in value.items():
        if name not in members:
            return Fault("value_error:dict_key", f"no member {name!r} is expected")
        if standard(member) not in [standard(choice) for choice in members[name]]:
            return Fault(
                "value_error:dict_value", f"{name}: {shown(member)} is not one of {shown(members[name])}"
            )
    return None


def _missing_member(value: Mapping[str, Any], members: Mapping[str, Any]) -> Fault | None:
    for name, allowed in members.items():
        if name not in value and "" not in allowed:
            return Fault("value_error:dict_key", f"the member {name!r} is missing")
    return None


def objects_fault(value: Sequence[Any], allowed: Sequence[Any], rule: ObjectRule) -> Fault | None:
    """The fault of a list of objects, in order, compared with the last allowed list."""
    fault: Fault | None = Fault("list_dict_checker:unclear", "no list of objects is allowed")
    for objects in allowed:
        if len(value) != len(objects):
            fault = Fault("value_error:list_dict_count", f"{len(value)} objects, not {len(objects)}")
            continue
        faults = (rule(item, [expected]) for item, expected in zip(value, objects, strict=True))
        fault = next(filter(None, faults), None)
        if fault is None:
            return None
    return fault
