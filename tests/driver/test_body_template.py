"""Request bodies with places to fill in, and places in JSON."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.plain_json import PLACEHOLDERS, check, fill, placeholders
from loadgen.driver.client.server_json import place

VALUES = {"prompt": "why?", "system": None, "model": "m", "max_tokens": 5, "temperature": 0.0}


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{prompt}", "why?"),
        ("{max_tokens}", 5),
        ("{temperature}", 0.0),
        ("Q: {prompt} ({max_tokens})", "Q: why? (5)"),
        ("[{system}]{prompt}", "[]why?"),
        ({"a": "{system}", "b": {"c": "{system}"}, "d": None}, {"b": {}, "d": None}),
        (["{system}", "{prompt}", 7, True], ["why?", 7, True]),
        ({"{prompt}": "{{prompt}}"}, {"{prompt}": "{why?}"}),
        (
            {"schema": {"type": "object"}, "x": "{}", "y": "{a} {prompt"},
            {"schema": {"type": "object"}, "x": "{}"} | {"y": "{a} {prompt"},
        ),
    ],
)
def test_filling_in(template: Any, filled: Any) -> None:
    """A lone placeholder keeps its value's type; what is absent is left out; the rest means itself."""
    assert fill(template, VALUES) == filled


@given(prompt=st.text() | st.sampled_from([f"a {{{name}}} b" for name in PLACEHOLDERS]))
def test_what_is_filled_in_is_not_a_template(prompt: str) -> None:
    """Whatever a prompt says, it is asked as it is."""
    values = {**VALUES, "prompt": prompt}
    assert fill({"a": "{prompt}", "b": "<{prompt}>"}, values) == {"a": prompt, "b": f"<{prompt}>"}


def test_what_a_template_must_have() -> None:
    """A place for the prompt, and no place that nothing belongs in."""
    check({"a": [{"b": "so: {prompt}"}], "c": "{no} {such}"})
    assert placeholders({"a": "{prompt}{model}", "{system}": 1}) == {"prompt", "model"}
    with pytest.raises(ValueError, match=r"has no \{prompt\}"):
        check({"a": "prompt"})
    with pytest.raises(ValueError, match=r"unknown placeholder \{user\}"):
        check({"a": "{prompt}", "b": "{user}"})


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("a", {"a": 1}, 1),
        ("a.b", {"a": {"b": "x"}}, "x"),
        ("a.1.b", {"a": [0, {"b": "x"}]}, "x"),
        ("0", [7], 7),
        ("0", {"0": 7}, 7),
        ("a.b", {"a": None}, None),
        ("a.b", {"a": "text"}, None),
        ("a.2", {"a": [0]}, None),
        ("a.-1", {"a": [0]}, None),
        ("a.99999999999999999999", {"a": [0]}, None),
        ("a", 7, None),
    ],
)
def test_places(written: str, value: Any, expected: Any) -> None:
    """Names of members and indexes of lists; where nothing is there is nothing, and no error."""
    assert place(written).find(value) == expected


@pytest.mark.parametrize("written", ["", ".", "a.", ".a", "a..b"])
def test_an_invalid_place_is_refused(written: str) -> None:
    """An empty name."""
    with pytest.raises(ValueError, match="is not a place in JSON"):
        place(written)
