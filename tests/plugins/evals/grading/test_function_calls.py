"""Calls of functions in texts, as JSON and as Python, compared in any order by normalized values."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.plugins.evals.grading.function_calls import calls_of_text, normalized_value, same_calls
from loadgen.plugins.evals.grading.json_calls import calls_of_json, calls_of_tools

ONE_CALL = [{"area": {"side": 2, "unit": "cm"}}]
AREA = '{"name": "area", "arguments": {"side": 2, "unit": "cm"}}'
ROOT = '{"name": "math.sqrt", "args": {"x": 4}}'
TWO_CALLS = [*ONE_CALL, {"math.sqrt": {"x": 4}}]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"name": "area", "arguments": {"side": 2, "unit": "cm"}}', ONE_CALL),
        ('{"tool": "area", "parameters": "{\\"side\\": 2, \\"unit\\": \\"cm\\"}"}', ONE_CALL),
        (
            '{"function": {"name": "area", "arguments": {"side": 2, "unit": "cm"}}, "type": "function"}',
            ONE_CALL,
        ),
        ('{"function": "area", "args": {"side": 2, "unit": "cm"}}', ONE_CALL),
        (
            'I call it:\n```json\n{"name": "area", "arguments": {"side": 2, "unit": "cm"}}\n```\nDone.',
            ONE_CALL,
        ),
        ('<tool_call>\n{"name": "area", "arguments": {"side": 2, "unit": "cm"}}\n</tool_call>', ONE_CALL),
        ("area(side=2, unit='cm')", ONE_CALL),
        ("```python\narea(side=2, unit='cm')\n```", ONE_CALL),
        ("[area(side=2, unit='cm'), math.sqrt(x=4)]", TWO_CALLS),
        (f"[{AREA}, {ROOT}]", TWO_CALLS),
        (f"```json\n{AREA}\n```\nand\n```json\n{ROOT}\n```", TWO_CALLS),
        ('{"name": "now"}', [{"now": {}}]),
        ("now()", [{"now": {}}]),
        ("[]", []),
        ("No function does that.", None),
        ('{"name": "Ada", "age": 36}', None),
        ('{"name": "area", "arguments": [2]}', None),
        ('{"name": "area", "arguments": "{"}', None),
        ("", None),
        ("1 + 1", None),
        ("[" * 100_000, None),
    ],
)
def test_calls_in_a_text(text: str, calls: Any) -> None:
    """In each of the forms; and what is not one of them."""
    assert calls_of_text(text) == calls


def test_calls_that_the_endpoint_gave() -> None:
    """Their arguments are JSON text."""
    arguments = {"id": "c1", "type": "function", "function": {"name": "area", "arguments": '{"side": 2}'}}
    assert calls_of_tools([arguments]) == [{"area": {"side": 2}}]
    assert calls_of_tools([{**arguments, "function": {"name": "now", "arguments": ""}}]) == [{"now": {}}]
    assert calls_of_tools([{**arguments, "function": {"name": "area", "arguments": "{"}}]) is None
    assert calls_of_json("area") is None


def test_the_order_does_not_matter_but_how_often_does() -> None:
    """Of calls and of arguments; of elements it does."""
    assert same_calls(TWO_CALLS, TWO_CALLS[::-1])
    assert not same_calls([*ONE_CALL, *ONE_CALL], ONE_CALL)
    assert same_calls([{"f": {"a": 1, "b": 2}}], [{"f": {"b": 2, "a": 1}}])
    assert not same_calls([{"f": {"a": [1, 2]}}], [{"f": {"a": [2, 1]}}])
    assert not same_calls([{"F": {}}], [{"f": {}}])


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        (" New  York", "new york", True),
        (2.0, 2, True),
        (2.5, 2, False),
        ("2", 2, False),
        ([1.0, "A"], (1, "a"), True),
        ({"a": {"b": "C"}}, {"a": {"b": "c"}}, True),
        (None, "none", False),
    ],
)
def test_values(first: Any, other: Any, *, same: bool) -> None:
    """Texts without case and further blanks, whole numbers however they are written."""
    assert (normalized_value(first) == normalized_value(other)) is same


def test_true_is_not_one() -> None:
    """As JSON tells them apart."""
    assert not same_calls([{"f": {"a": True}}], [{"f": {"a": 1}}])
