"""TOML, YAML and JSON of users: read as their parsers read them, or refused with the line."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from workloads.documents import DEEPEST, LONGEST_NUMBER, parse_json, parse_toml, read_text
from workloads.errors import MalformedError
from workloads.yaml_values import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEEP = DEEPEST + 1


def nested(opening: str, levels: int, closing: str = "") -> str:
    """Brackets in brackets."""
    return opening * levels + closing * levels


@pytest.mark.parametrize(
    ("parse", "text", "problem"),
    [
        (parse_toml, "\na = " + nested("[", DEEP, "]"), "line 2: nested deeper than 32 levels"),
        (parse_toml, "a = " + nested("{a=", DEEP, "}"), "line 1: nested deeper than 32 levels"),
        (parse_toml, ".".join("a" * DEEP) + " = 1", "line 1: nested deeper"),
        (parse_toml, ".".join(["'a'"] * DEEP) + " = 1", "line 1: nested deeper"),
        (parse_toml, " . ".join(['"]"'] * DEEP) + " = 1", "line 1: nested deeper"),
        (parse_toml, "[" + ".".join("a" * DEEP) + "]", "line 1: nested deeper"),
        (parse_toml, 'a = ["""x"""", ' + nested("[", DEEP, "]") + ', "y"]', "line 1: nested deeper"),
        (parse_toml, f"a = 1\nb = {'1' * (LONGEST_NUMBER + 1)}", "line 2: a number of 101 characters"),
        (parse_toml, f"a = 0x{'f' * 5000}", "a number of 5,002 characters is too long"),
        (parse_toml, "a = b", "line 1"),
        (parse_json, nested("[", DEEP, "]"), "line 1: nested deeper"),
        (parse_json, nested('\n{"a":', DEEP, "}"), "line 34: nested deeper"),
        (parse_json, f"[{'1' * 5000}]", "a number of 5,000 characters is too long"),
        (parse_json, "[1", "line 1"),
        (parse_yaml, nested("[", DEEP, "]"), "line 1: nested deeper"),
        (parse_yaml, "\n".join(f"{' ' * depth}a:" for depth in range(DEEP + 1)), "nested deeper"),
        (parse_yaml, f"[{'1' * 5000}]", "a number of 5,000 characters is too long"),
        (parse_yaml, f"[1{':59' * 400}.5]", "characters is too long"),
        (parse_yaml, "a: &a [x]\nb: [*a, *a]", "line 2: no aliases: write out what *a stands for"),
        (parse_yaml, "a: 1\na: 2", "line 2: the key 'a' stands twice"),
        (parse_yaml, "a: !!timestamp x", "line 1: 'x' cannot be read as timestamp"),
        (parse_yaml, "a: 2026-99-99", "line 1: '2026-99-99' cannot be read as timestamp"),
        (parse_yaml, "a: !!python/name:os.system x", "could not determine a constructor"),
        (parse_yaml, "[a]: \x01", "special characters are not allowed"),
    ],
)
def test_what_is_refused(parse: Callable[[str], Any], text: str, problem: str) -> None:
    """With its line."""
    with pytest.raises(MalformedError) as raised:
        parse(text)
    assert problem in str(raised.value)


def test_the_bounds_themselves_are_allowed() -> None:
    """Depth counts brackets and the parts of keys, not what is in strings and comments."""
    brackets = nested("[", DEEPEST, "]")
    assert parse_toml(f"a = {brackets}") == tomllib.loads(f"a = {brackets}")
    assert parse_json(brackets) == parse_yaml(brackets) == json.loads(brackets)
    in_texts = f"""a = '{"[" * 99}' # {"[" * 99}\nb = \"\"\"{"[" * 99}\"\"\"\nc = "{"." * 99}"\n"""
    assert parse_toml(in_texts) == tomllib.loads(in_texts)
    assert parse_json(json.dumps(["[" * 99])) == ["[" * 99]
    assert parse_toml("a = " + "9" * LONGEST_NUMBER)["a"] == int("9" * LONGEST_NUMBER)
    floats = ", ".join(["1.5"] * 99)
    assert parse_toml(f"a = [{floats}]")["a"] == [1.5] * 99


PIECES = st.sampled_from(
    [
        *"[]{}.=,#'\"\n \\a1+-_:&*!|><?%@`~",
        *('"""', "'''", "a.b", "[[", "]]", "0x", "1e9", "true", "- ", ": ", "<<", "&a", "*a", "!!int "),
        *(
            "!!float ",
            "!!set ",
            "!!omap ",
            "!!binary ",
            "!!null ",
            "2026-01-01",
            ".inf",
            "1:59",
            "---\n",
            "null",
        ),
    ]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_any_text_is_read_as_by_the_parsers_or_refused(text: str) -> None:
    """No other error comes out."""
    for parse, by_parser in ((parse_toml, tomllib.loads), (parse_json, json.loads), (parse_yaml, safe)):
        try:
            result = parse(text)
        except MalformedError as error:
            assert str(error)  # noqa: PT017 (it may also be right)
        else:
            assert repr(result) == repr(by_parser(text))


@pytest.mark.parametrize("text", ["!!set .", "!!omap a", "!!pairs {a: b}"])
def test_a_value_that_does_not_fit_its_tag(text: str) -> None:
    """PyYAML looks at the tag alone."""
    with pytest.raises(MalformedError):
        parse_yaml(text)


def safe(text: str) -> Any:
    """What PyYAML makes of it."""
    return yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "is_unicode"),
    [
        (r'"\ud83d\ude00"', True),
        (r'"\uD83D\uDE00x\ud83d\ude00"', True),
        (r'"\\ud800"', True),
        (r'"\ud800"', False),
        (r'"\ude00\ud83d"', False),
        (r'"\\\ud800"', False),
        (r'{"\udfff": 1}', False),
    ],
)
def test_half_of_a_surrogate_pair_is_not_text(text: str, *, is_unicode: bool) -> None:
    """No log, page or terminal can have it."""
    if is_unicode:
        assert parse_json(text) == json.loads(text)
    else:
        with pytest.raises(MalformedError, match="line 1: half of a surrogate pair"):
            parse_json(text)


def test_a_file_has_a_length(tmp_path: Path) -> None:
    """And is UTF-8."""
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_text(path, 8) == "a = 1"
    with pytest.raises(MalformedError, match="has more than 7 bytes; split it"):
        read_text(path, 7, "split it")
    path.write_bytes(b"a\xff")
    with pytest.raises(MalformedError, match=r"is not text in UTF-8 \(byte 1\)"):
        read_text(path, 8)
