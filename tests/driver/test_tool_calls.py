"""Tool calls that come in parts."""

from __future__ import annotations

from sys import getsizeof
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loadgen.driver.client.codec import Delta
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.client.tool_calls import ToolCallParts


def part(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: str = ""
) -> Any:
    """A part of a call, with what is given."""
    members = {"index": index, "id": call_id}
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {key: value for key, value in members.items() if value is not None} | {"function": function}


def joined(parts: list[Any], *, often: bool = False) -> list[tuple[Any, ...]]:
    """The calls that parts make: id, name and arguments."""
    calls = ToolCallParts()
    for piece in parts:
        calls.add(piece)
        if often:
            calls.joined()
    return [
        (call.get("id"), call["function"].get("name"), call["function"]["arguments"])
        for call in calls.joined()
    ]


TWO = [("a", "f", '{"p":1}'), ("b", "g", '{"q":2}')]
SHAPES = {
    "one part each, by index": [part(0, "a", "f", '{"p":1}'), part(1, "b", "g", '{"q":2}')],
    "one index, own ids, as Ollama": [part(0, "a", "f", '{"p":1}'), part(0, "b", "g", '{"q":2}')],
    "no index, own ids": [part(None, "a", "f", '{"p":1}'), part(None, "b", "g", '{"q":2}')],
    "parts of either in turn": [
        *(part(0, "a", "f"), part(1, "b", "g"), part(0, arguments='{"p"'), part(1, arguments='{"q"')),
        *(part(0, arguments=":1}"), part(1, arguments=":2}")),
    ],
    "one index, the id in every part": [
        *(part(0, "a", "f"), part(0, "b", "g"), part(0, "a", arguments='{"p":1}')),
        part(0, "b", arguments='{"q":2}'),
    ],
    "the name in every part": [
        *(
            part(0, "a", "f", '{"p"'),
            part(0, "a", "f", ":1}"),
            part(1, "b", "g", '{"q"'),
            part(1, "b", "g", ":2}"),
        ),
    ],
    "the name in every part, the id in the first": [
        *(
            part(0, "a", "f", '{"p"'),
            part(0, None, "f", ":1}"),
            part(1, "b", "g", '{"q"'),
            part(1, None, "g", ":2}"),
        ),
    ],
    "another id with every part, as early vLLM": [
        *(
            part(0, "a", "f"),
            part(0, "x", arguments='{"p":1}'),
            part(1, "b", "g"),
            part(1, "y", arguments='{"q":2}'),
        ),
    ],
    "no index after the first part": [
        *(part(0, "a", "f"), part(arguments='{"p":1}'), part(1, "b", "g"), part(arguments='{"q":2}')),
    ],
    "the id after the name": [
        *(
            part(0, None, "f"),
            part(0, "a", arguments='{"p":1}'),
            part(1, None, "g"),
            part(1, "b", arguments='{"q":2}'),
        ),
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("often", [False, True])
def test_two_calls_stay_two(shape: str, *, often: bool) -> None:
    """By id, else by index, whatever a server repeats."""
    assert joined(SHAPES[shape], often=often) == TWO


@pytest.mark.parametrize("often", [False, True])
def test_calls_without_ids(*, often: bool) -> None:
    """Of one index, the name tells, or that the arguments before are complete."""
    parts = [part(0, None, "f", '{"p":1}'), part(0, None, "f", '{"p":2}'), part(0, None, "g", "{}")]
    assert [call[1:] for call in joined(parts, often=often)] == [
        ("f", '{"p":1}'),
        ("f", '{"p":2}'),
        ("g", "{}"),
    ]
    whole = [part(None, None, "f", "{}"), part(None, None, "f", "{}")]
    assert [call[1:] for call in joined(whole, often=often)] == [("f", "{}"), ("f", "{}")]
    one_id = [part(0, "a", "f", "{}"), part(1, "a", "g", "{}"), part(0, "a", arguments=" ")]
    assert joined(one_id, often=often) == [("a", "f", "{} "), ("a", "g", "{}")]


def test_braces_inside_of_arguments_begin_no_call() -> None:
    """What looks like two texts of JSON is one, where the first is not complete."""
    parts = [part(0, "a", "f", '{"code":"if(x){}'), part(0, "a", "f", '{y()}"}')]
    assert joined(parts) == [("a", "f", '{"code":"if(x){}{y()}"}')]


PARTS = st.lists(
    st.builds(
        part,
        st.none() | st.integers(0, 2),
        st.none() | st.sampled_from(["", "a", "b"]),
        st.none() | st.sampled_from(["", "f", "g"]),
        st.sampled_from(["", "{", "}", "{}", "x"]),
    ),
    max_size=20,
)


@settings(max_examples=300)
@example([part(1, None, ""), part(1, None, "f"), part(1, None, "f")])
@given(PARTS)
def test_nothing_of_the_arguments_is_lost(parts: list[Any]) -> None:
    """In any shape, joined at any moment, and parts stay as they are."""
    before = repr(parts)
    calls = joined(parts)
    assert joined(parts, often=True) == calls
    assert sorted("".join(call[2] for call in calls)) == sorted(
        "".join(piece["function"]["arguments"] for piece in parts)
    )
    assert repr(parts) == before


def test_what_is_added_is_counted_once() -> None:
    """The text that is added to a call that was counted before counts too."""
    calls = ToolCallParts()
    calls.add({"index": 0, "function": {"name": "f", "arguments": ""}})
    calls.added_bytes()
    for _ in range(3):
        calls.add({"index": 0, "function": {"arguments": "x" * 1000}})
    assert calls.added_bytes() == getsizeof("x" * 3000) - getsizeof("")
    assert calls.added_bytes() == 0


def test_a_call_without_arguments_goes_back_with_an_empty_object() -> None:
    """The history that a server parses has JSON in it, and no index of the stream."""
    answer = ParsedResponse()
    answer.add(Delta(tool_calls=[part(0, "a", "now")]), 1)
    (call,) = answer.message()["tool_calls"]
    assert call == {"id": "a", "function": {"name": "now", "arguments": "{}"}}


def test_reasoning_goes_back_with_tool_calls_only() -> None:
    """Kimi and DeepSeek refuse calls without it; of other turns, templates drop it."""
    answer = ParsedResponse()
    answer.add(Delta(reasoning="I need the clock."), 1)
    assert answer.message() == {"role": "assistant", "content": ""}
    answer.add(Delta(tool_calls=[part(0, "a", "now", "{}")]), 2)
    assert answer.message()["reasoning_content"] == "I need the clock."
