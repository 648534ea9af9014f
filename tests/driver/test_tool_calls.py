"""Tool calls that come in parts."""

from __future__ import annotations

from sys import getsizeof
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.tool_calls import ToolCallParts

PARTS = st.lists(
    st.fixed_dictionaries(
        {
            "function": st.dictionaries(
                st.sampled_from(["name", "arguments"]), st.text(max_size=5) | st.none()
            )
        },
        optional={"index": st.integers(0, 2)},
    ),
    max_size=20,
)


@given(PARTS)
def test_parts_of_one_index_are_one_call(parts: list[dict[str, Any]]) -> None:
    """Texts of a member are joined in order; a part without an index is a call; parts stay as they are."""
    before = repr(parts)
    calls = ToolCallParts()
    for part in parts:
        calls.add(part)
        if len(part["function"]) == 1:
            calls.joined()  # at any moment
    indexed = {part["index"] for part in parts if "index" in part}
    assert len(calls.joined()) == len(indexed) + sum("index" not in part for part in parts)
    for call in calls.joined():
        if "index" in call:
            mine = [part["function"] for part in parts if part.get("index") == call["index"]]
            for member in ("name", "arguments"):
                texts = [function[member] for function in mine if function.get(member) is not None]
                assert (call["function"].get(member) or "") == "".join(texts)
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
