"""A ruleset file that is meant to do harm: it makes nothing, fills nothing, and is refused in a sentence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import document
from rulesets.errors import RulesetError, RulesetFileError
from rulesets.expression import parse, unparse
from rulesets.loading import load

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'schema: rulesets/1\nruleset: {name: a, version: "1"}\n'
LAUGHS = "\n".join(
    ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    + [
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LAUGHS, "unknown key 'a' here"),
        (f"{HEAD}targets: &a [*a]", "must be text, not a list"),
        (HEAD + "targets: " + "[" * 100_000, "nested too deeply"),
        (HEAD + "targets: " + "{a: " * 50_000, "nested too deeply"),
        ("!!python/object/apply:os.system ['touch made']", "must hold keys and values"),
        (f"{HEAD}targets: !!python/object/apply:os.system ['touch made']", "an operator is missing"),
        (
            f'{HEAD}targets:\n- {{metric: ttft, stat: mean, op: "<", unit: ms, value: !!int ""}}',
            "a finite number",
        ),
        (
            f'{HEAD}targets:\n- {{metric: ttft, stat: mean, op: "<", unit: ms, value: !!float ""}}',
            "a finite number",
        ),
        (
            HEAD + "targets:\n- {metric: ttft, op: '<', unit: ms, value: 1" + ":59" * 20_000 + "}",
            "a finite number",
        ),
        (HEAD + "targets: [" + "'ttft:p(99)<1s', " * 20_000 + "]", "has more than 262144 bytes"),
        (HEAD + "targets: ['ttft\0:p(99)<1s']", "is not YAML"),
    ],
)
def test_harmful_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str) -> None:
    """A billion laughs, a circle, a depth, a constructor, an invalid number, and endless text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(text)
    with pytest.raises(RulesetFileError) as raised:
        load(tmp_path / "rules.yaml")
    assert why in str(raised.value)
    assert not (tmp_path / "made").exists()


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A pipe is not waited for, a device not read, a folder not opened."""
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "folder.yaml").mkdir()
    for name, why in (
        ("pipe", "not a file with an end"),
        ("zero", "not a file with"),
        ("folder", "a directory"),
    ):
        with pytest.raises(RulesetFileError, match=why):
            load(tmp_path / f"{name}.yaml")


PIECES = st.sampled_from(
    [
        *"&*!|>[]{}:-,#?%@`'\"\n\t\x85\ufeff ~1a",
        *("&a", "*a", "- ", ": ", "<<", "!!int", "!!str ", ".inf"),
        *("schema: rulesets/1\n", "ruleset: {name: a, version: b}\n", "targets:\n", "- ttft:p(99)<1s\n"),
        "\n- {metric: ttft, stat: mean, op: '<', value: 1, unit: ms}",
        *("validity:", "max_error_rate: 0.1", "min_samples: "),
    ]
)


@given(pieces=st.lists(PIECES, max_size=20), head=st.booleans())
def test_any_text_is_a_ruleset_or_an_error(
    tmp_path_factory: pytest.TempPathFactory,
    pieces: list[str],
    head: bool,  # noqa: FBT001 (drawn)
) -> None:
    """And the error names the file."""
    path = tmp_path_factory.getbasetemp() / "drawn.yaml"
    path.write_text((HEAD if head else "") + "".join(pieces), encoding="utf-8")
    try:
        assert load(path).targets
    except RulesetFileError as error:
        assert str(error).startswith(str(path))  # noqa: PT017 (it may also be right)


WORDS = (
    *("ttft", "qps", "error", ":", "p(99)", "p(", ")", "mean", "<", ">=", "!", "warn"),
    *("1", "1e999", "-", ".", "ms", "%", "s", " ", "\u0663", "\u00bd", "\0"),
)
EXPRESSIONS = st.lists(st.sampled_from(WORDS) | st.characters(), max_size=10).map("".join)


@given(text=EXPRESSIONS)
def test_any_short_form_is_a_target_or_an_error(text: str) -> None:
    """What is read can be written down and read again."""
    try:
        target = parse(text)
    except RulesetError:
        return
    assert parse(unparse(target)) == target


def test_the_bound_is_beyond_every_ruleset() -> None:
    """A thousand targets have room."""
    assert 1000 * len("- {metric: ttft, stat: p(99), op: '<', value: 500, unit: ms}\n") < document.MOST_BYTES
