"""The definition of version 1, of the summer of 2024, with which results of that time were made.

It reads texts as they are, without brackets put around them; it takes several functions as a set whose order
does not matter; and an object must have exactly the members that are expected.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from loadgen.plugins.evals.grading.bfcl.allowed import Fault, of_objects, shown, standard
from loadgen.plugins.evals.grading.bfcl.checking import CallRule, single_fault, unordered_fault
from loadgen.plugins.evals.grading.bfcl.decoding import calls_in, decoded, guarded
from loadgen.plugins.evals.grading.bfcl.official import (
    IRRELEVANCE,
    RELEVANCE,
    called,
    undecoded,
    unjudged,
    written,
)
from loadgen.plugins.evals.grading.bfcl.python_text import elements, expression, value
from loadgen.plugins.evals.grading.json_calls import UndecodableError
from workloads.score import Score, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.answer import Answer
    from workloads.scorer import Reference


def grade(reference: Reference, answer: Answer) -> Score:
    """Judge an answer; see `loadgen.plugins.evals.grading.bfcl.official.grade`."""
    try:
        calls = _decoded(reference, answer)
    except UndecodableError as error:
        return undecoded(reference, str(error))
    are_objects = type(calls) is list and all(type(call) is dict for call in calls)
    if reference["category"] in IRRELEVANCE | RELEVANCE:
        return called(reference, calls if are_objects and calls != [{}] else None)
    if not are_objects:
        return unparsed(f"ast_decoder:decoder_wrong_output_format: {written(calls)}")
    try:
        fault = _fault(reference, calls)
    except Exception as error:  # noqa: BLE001 (whatever a model can make of a value)
        fault = unjudged(error)
    return graded(fault is None, written(calls), "" if fault is None else f"{fault.kind}: {fault.detail}")


def _decoded(reference: Reference, answer: Answer) -> Any:
    if reference["mode"] != "prompt":
        return decoded(answer, reference["mode"], reference["language"])
    if reference["language"] == "python":
        return guarded(_python_calls, answer.text)
    return guarded(calls_in, answer.text, reference["language"])


def _python_calls(text: str) -> list[Any]:
    body = expression(text)
    if isinstance(body, ast.Call):
        raise UndecodableError("a call that is in no list")
    return [value(element) for element in elements(body)]


def _fault(reference: Reference, calls: Any) -> Fault | None:
    """The fault of calls; an expected call belongs to the first function with a name within its name."""
    functions, expected = reference["functions"], reference["answers"]
    rule = CallRule(reference["language"], reference["mode"] != "prompt", object_fault, _names_part_of)
    if "multiple" in reference["category"] or "parallel" in reference["category"]:
        return unordered_fault(functions, calls, expected, rule)
    return single_fault(functions[0], calls, expected[0], rule)


def _names_part_of(function: str, expected: str) -> bool:
    return function in expected


def object_fault(argument: Mapping[str, Any], allowed: Sequence[Any]) -> Fault | None:
    """The fault of an object, compared with the last allowed object."""
    return of_objects(partial(_member_fault, argument), allowed)


def _member_fault(argument: Mapping[str, Any], members: Mapping[str, Any]) -> Fault | None:
    if len(argument) != len(members):
        return Fault("value_error:dict_items", f"{len(argument)} members, not {len(members)}")
    for name, member in argument.items():
        if name not in members:
            return Fault("value_error:dict_key", f"no member {name!r} is expected")
        if isinstance(members[name], dict):
            fault = object_fault(member, [members[name]])
            if fault is not None:
                return fault
        elif standard(member) not in [standard(choice) for choice in members[name]]:
            return Fault(
                "value_error:dict_value", f"{name}: {shown(member)} is not one of {shown(members[name])}"
            )
    return None
