"""Anchors, aliases and merge keys of a file, and what they may cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rulesets import document
from rulesets.errors import RulesetFileError
from rulesets.loading import load

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'schema: rulesets/1\nruleset: {name: a, version: "1"}\n'


def values(path: Path, text: str) -> dict[str, str]:
    """Read keys and values, all of them texts."""
    path.write_text(text)
    return {name: part.text() for name, part in document.read(path).names().items()}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x: a\n<<: {x: b, y: c}", {"x": "a", "y": "c"}),
        ("<<: [{x: a}, {x: b, y: b}, {y: c, z: c}]", {"x": "a", "y": "b", "z": "c"}),
        ("<<: {<<: {x: a, y: a}, y: b}", {"x": "a", "y": "b"}),
        ('"<<": a', {"<<": "a"}),
    ],
)
def test_merge_keys_are_those_of_yaml(tmp_path: Path, text: str, read: dict[str, str]) -> None:
    """A mapping's own keys override merged ones, earlier list items later ones; a quoted `<<` is a name."""
    assert values(tmp_path / "a.yaml", text) == read


def test_an_error_names_the_line_where_the_anchor_is(tmp_path: Path) -> None:
    """And the key by which it came to be read."""
    path = tmp_path / "a.yaml"
    path.write_text(
        HEAD + "models:\n  m:\n    scenarios:\n      a: &a\n        targets: [qps>1]\n        validty: {}\n"
        "      b: {<<: *a, validity: {min_samples: 5}}\n"
    )
    with pytest.raises(RulesetFileError, match=r"a.yaml:8: models.m.scenarios.a: unknown key 'validty'"):
        load(path)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<<: 5", "a.yaml:1: << takes keys and values"),
        ("x: &x\n  <<: *x\n", "a.yaml:2: x: merges itself"),
        ("x: &x {<<: [{a: b}, *x]}", "a.yaml:1: x: merges itself"),
        ("x: {a: b, a: c}", "a.yaml:1: x: the key 'a' stands twice, first on line 1"),
    ],
)
def test_merges_that_go_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str) -> None:
    """Are refused in a sentence."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(RulesetFileError) as refused:
        [part.names() for part in document.read(path).names().values()]
    assert why in str(refused.value)


DOUBLING = "\n".join(
    ["x0: &x0 {" + ", ".join(f"k{number}: v" for number in range(50)) + "}"]
    + [f"x{number}: &x{number} {{<<: [*x{number - 1}, *x{number - 1}]}}" for number in range(1, 40)]
)


def test_merges_are_not_multiplied_out(tmp_path: Path) -> None:
    """Forty doublings end at the greatest number of parts that a document may have."""
    path = tmp_path / "a.yaml"
    path.write_text(DOUBLING)
    with pytest.raises(RulesetFileError, match="has more than 50000 parts with its aliases"):
        document.read(path).names()["x39"].names()


@pytest.mark.parametrize(
    "text",
    [
        f"a: &a {{x: [1, 2, 3]}}\n{HEAD}generation: {{extra_body: &b {{x: [*b, *b]}}}}\ntargets: [qps>1]\n",
        f"{HEAD}generation: {{extra_body: &b {{x: *b}}}}\ntargets: [qps>1]\n",
    ],
)
def test_a_free_value_that_holds_itself_has_an_end(tmp_path: Path, text: str) -> None:
    """It is nested too deeply."""
    path = tmp_path / "a.yaml"
    path.write_text(text.removeprefix("a: &a {x: [1, 2, 3]}\n"))
    with pytest.raises(RulesetFileError, match="is nested too deeply for a ruleset"):
        load(path)


@pytest.mark.parametrize(
    ("written", "read"),
    [("16159082839903944936", 16159082839903944936), ("0x10", 16), ("1.0", 1), ("1_000", 1000)],
)
def test_whole_numbers_are_exact(tmp_path: Path, written: str, read: int) -> None:
    """Beyond 2^53 too, where a double would round."""
    path = tmp_path / "a.yaml"
    path.write_text(f"{HEAD}seeds: {{schedule: {written}}}\ntargets: [qps>1]\n")
    assert load(path).seeds == {"schedule": read}


@pytest.mark.parametrize("written", ["18446744073709551616", "-1", "1.5", "'7'", "1e30", "yes", "9" * 300])
def test_an_invalid_seed_is_refused(tmp_path: Path, written: str) -> None:
    """Neither below 0, nor from 2^64 on, nor a part of a number."""
    path = tmp_path / "a.yaml"
    path.write_text(f"{HEAD}seeds: {{schedule: {written}}}\ntargets: [qps>1]\n")
    with pytest.raises(RulesetFileError, match=r"seeds\.schedule: must be"):
        load(path)
