"""Which rules a run is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rulesets.errors import RulesetError
from rulesets.loading import load

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
schema: rulesets/1
ruleset: {name: house, version: "1"}
models:
  m-8b:
    aliases: [org/M-8B-Instruct, shared]
    scenarios:
      server: {load: {pattern: poisson}, targets: [qps>1]}
      Offline: {load: {pattern: all_at_once}, targets: [qps>2]}
  m-8b-edge:
    aliases: [shared]
    scenarios:
      single: {load: {pattern: closed_loop}, targets: [qps>3]}
      offline: {load: {pattern: all_at_once}, targets: [qps>4]}
  "*":
    scenarios:
      server: {load: {pattern: poisson}, targets: [qps>5]}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ruleset of three models."""
    file = tmp_path / "house.yaml"
    file.write_text(TEXT)
    return file


@pytest.mark.parametrize(
    ("model", "scenario", "pattern", "meant"),
    [
        ("m-8b", None, "poisson", 1),
        ("M-8B", "SERVER", None, 1),
        ("somebody/m-8b/", "server", None, 1),
        ("org/M-8B-Instruct", None, "offline", 2),
        ("m-8b-instruct", "offline", "poisson", 2),
        (None, "m-8b/server", None, 1),
        ("other", "org/m-8b-instruct/offline", None, 2),
        ("shared", "single", None, 3),
        ("shared", None, "closed", 3),
        ("shared", None, "closed_loop", 3),
        ("m-8b-edge", "offline", None, 4),
        ("unheard/of", None, None, 5),
        ("unheard/of", None, "constant", 5),
        (None, "*/server", None, 5),
    ],
)
def test_names_and_patterns_decide(
    path: Path, model: str | None, scenario: str | None, pattern: str | None, meant: int
) -> None:
    """Whole or by the last part, whatever the case; `*` last; the pattern where more than one is left."""
    assert load(path, model=model, scenario=scenario, pattern=pattern).targets[0].value == meant


@pytest.mark.parametrize(
    ("model", "scenario", "pattern", "why"),
    [
        ("m-8b", None, None, "choose with --scenario: m-8b/server, m-8b/Offline"),
        ("m-8b", None, "constant", "choose with --scenario: m-8b/server, m-8b/Offline"),
        ("shared", None, "offline", "choose with --scenario: m-8b/Offline, m-8b-edge/offline"),
        (
            "m-8b",
            "servr",
            None,
            "house 1 has no scenario 'servr' for the model 'm-8b'; did you mean 'server'?",
        ),
        (None, "m-8c/server", None, "house 1 has no model 'm-8c'; did you mean 'm-8b'?"),
        (None, None, "poisson", "choose with --scenario: m-8b/server, */server"),
    ],
)
def test_where_nothing_decides_the_error_says_what_there_is(
    path: Path, model: str | None, scenario: str | None, pattern: str | None, why: str
) -> None:
    """Or which name was probably meant."""
    with pytest.raises(RulesetError) as refused:
        load(path, model=model, scenario=scenario, pattern=pattern)
    assert why in str(refused.value)


def test_a_model_without_rules(path: Path) -> None:
    """A ruleset without rules for any model: the error names the models that it has rules for."""
    path.write_text(TEXT.partition('  "*"')[0])
    with pytest.raises(RulesetError, match=r"no rules for the model 'm-9b'; did you mean 'm-8b'\?"):
        load(path, model="m-9b", scenario="server")


def test_a_flat_file_is_for_every_model(tmp_path: Path) -> None:
    """Its one scenario can be named, and has no name in the ruleset."""
    path = tmp_path / "flat.yaml"
    path.write_text("schema: rulesets/1\nruleset: {name: a, version: b}\ntargets: [qps>1]\n")
    rules = load(path, model="any", scenario="default", pattern="poisson")
    assert (rules.model, rules.scenario) == ("", "")
