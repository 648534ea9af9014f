"""The check of calls by version 4 of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import eq
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.bfcl.allowed import (
    Fault,
    list_fault,
    object_fault,
    objects_fault,
    shown,
    text_fault,
)
from loadgen.plugins.evals.grading.bfcl.declared import LANGUAGES, type_fault, type_of

if TYPE_CHECKING:
    from loadgen.plugins.evals.grading.bfcl.allowed import ObjectRule
    from loadgen.plugins.evals.grading.bfcl.declared import Declared
    from loadgen.plugins.evals.grading.json_calls import Calls

Function = Mapping[str, Any]
"""`name`, `required` parameters, and `types` by parameter: the name of its type and that of its elements."""

Expected = Mapping[str, Mapping[str, Sequence[Any]]]
"""One expected call: the values that are allowed, by argument, under the name of the function."""


@dataclass(frozen=True, slots=True)
class CallRule:
    """How single calls are judged.

    Attributes:
        language: In which functions declare their types, of `LANGUAGES`.
        underscores: Whether dots in the names of functions have become underscores.
        objects: How objects are judged.
        describes: Whether a function, by its name, is the one that is expected under a name.
    """

    language: str = "python"
    underscores: bool = False
    objects: ObjectRule = object_fault
    describes: Callable[[str, str], bool] = eq


def fault_of(
    category: str, functions: Sequence[Function], calls: Calls, expected: Sequence[Expected], rule: CallRule
) -> Fault | None:
    """The fault of calls; None for right calls.

    Raises:
        Exception: A value is of no kind that can be judged; the official checker fails on it as well.
    """
    if "parallel" in category:
        return unordered_fault(functions, calls, expected, rule)
    if "multiple" not in category:
        return single_fault(functions[0], calls, expected[0], rule)
    if len(calls) != len(expected):
        return _wrong_count("multiple_function_checker", calls, expected)
    return call_fault(_described(functions, expected[0], rule), calls[0], expected[0], rule)


def single_fault(function: Function, calls: Calls, expected: Expected, rule: CallRule) -> Fault | None:
    """The fault of calls to the only function, which must be called once."""
    if len(calls) != 1:
        return _wrong_count("simple_function_checker", calls, [expected])
    return call_fault(function, calls[0], expected, rule)


def unordered_fault(
    functions: Sequence[Function], calls: Calls, expected: Sequence[Expected], rule: CallRule
) -> Fault | None:
    """The fault of calls in any order.

    Each expected call takes the first that is right for it of those that are left.
    """
    checker = "parallel_function_checker_no_order"
    if len(calls) != len(expected):
        return _wrong_count(checker, calls, expected)
    left = list(calls)
    for expected_call in expected:
        function, faults = _described(functions, expected_call, rule), []
        for index, call in enumerate(left):
            fault = call_fault(function, call, expected_call, rule)
            if fault is None:
                del left[index]
                break
            faults.append(f"{fault.kind}: {fault.detail}")
        else:
            why = f"no right call of {next(iter(expected_call))}: {'; '.join(faults)}"
            return Fault(f"{checker}:cannot_find_match", why)
    return None


def _wrong_count(checker: str, calls: Calls, expected: Sequence[Expected]) -> Fault:
    return Fault(f"{checker}:wrong_count", f"{len(calls)} calls, not {len(expected)}")


def _described(functions: Sequence[Function], expected: Expected, rule: CallRule) -> Function:
    """The first function that is the expected one."""
    name = next(iter(expected))
    for function in functions:
        if rule.describes(function["name"], name):
            return function
    raise LookupError(f"no function {name}")


def call_fault(
    function: Function, call: Mapping[str, Mapping[str, Any]], expected: Expected, rule: CallRule
) -> Fault | None:
    """The fault of one call."""
    checker = "simple_function_checker"
    name = function["name"].replace(".", "_") if rule.underscores else function["name"]
    allowed = next(iter(expected.values()))
    if name not in call:
        return Fault(f"{checker}:wrong_func_name", f"{name} is not called")
    arguments = call[name]
    for parameter in function["required"]:
        if parameter not in arguments:
            return Fault(f"{checker}:missing_required", f"{parameter} is missing")
    for parameter, value in arguments.items():
        if parameter not in function["types"] or parameter not in allowed:
            return Fault(f"{checker}:unexpected_param", f"{parameter} is not expected")
        fault = _argument_fault(value, allowed[parameter], function["types"][parameter], rule)
        if fault is not None:
            return Fault(fault.kind, f"{parameter}: {fault.detail}")
    for parameter, values in allowed.items():
        if parameter not in arguments and "" not in values:
            return Fault(f"{checker}:missing_optional", f"{parameter} is missing")
    return None


def _argument_fault(
    argument: Any, allowed: Sequence[Any], types: Sequence[Any], rule: CallRule
) -> Fault | None:
    """The fault of one argument."""
    language = LANGUAGES[rule.language]
    declared = language.declared(*types)
    if language.read is not None and type(argument) is not str:
        return Fault(language.unread, f"{shown(argument)} is {type(argument).__name__}, not source code")
    value = language.value(argument, *types)
    fault = type_fault(value, allowed, declared)
    if fault is not None:
        return fault
    if type(value) is declared.outer and type_of(allowed) in {None, declared.outer}:
        return _value_fault(value, allowed, declared, rule)
    return _other_fault(value, allowed)


def _value_fault(value: Any, allowed: Sequence[Any], declared: Declared, rule: CallRule) -> Fault | None:
    """The fault of a value of the declared type."""
    if declared.outer is dict:
        return rule.objects(value, allowed)
    if declared.outer is list:
        if declared.inner is dict:
            return objects_fault(value, allowed, rule.objects)
        return list_fault(value, allowed)
    return text_fault(value, allowed) if declared.outer is str else _other_fault(value, allowed)


def _other_fault(value: Any, allowed: Sequence[Any]) -> Fault | None:
    """The fault of a number, a boolean, or a name in place of a value."""
    if value in allowed:
        return None
    return Fault("value_error:others", f"{shown(value)} is not one of {shown(allowed)}")
