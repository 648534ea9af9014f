"""Rulesets by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from rulesets import catalog
from rulesets.errors import RulesetError
from rulesets.loading import read


@pytest.mark.slow
def test_every_built_in_ruleset_is_found_by_the_name_inside() -> None:
    """NAME@VERSION is what the file calls itself, and all of it is right."""
    assert catalog.names()
    for name in catalog.names():
        book = read(name)
        assert f"{book.name}@{book.version}" == name
        assert book.rulesets


def test_a_name_alone_is_the_newest_version() -> None:
    """Of several the last, as numbers go."""
    versions = [name for name in catalog.names() if name.startswith("mlperf-inference@")]
    assert len(versions) > 1
    assert catalog.find("mlperf-inference") == catalog.find(versions[-1])


def test_newer_is_a_matter_of_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """v6.10 is newer than v6.9, and a name may have what looks like a version of another."""
    for stem in ("a-v6.10", "a-v6.9", "a-b-v1.0-2026-10-C1", "a-b-v1.0", "notes"):
        (tmp_path / f"{stem}.yaml").touch()
    monkeypatch.setattr(catalog, "_BUILTIN", tmp_path)
    assert catalog.names() == ["a@v6.9", "a@v6.10", "a-b@v1.0", "a-b@v1.0-2026-10-C1"]
    assert catalog.find("a").name == "a-v6.10.yaml"


def test_what_looks_like_a_file_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an ending, a folder, or where nothing else has the name; a relative one starts where it says."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").touch()
    (tmp_path / "chat").touch()
    assert catalog.find("rules") == Path("rules")
    assert catalog.find("chat").parent.name == "builtin"
    assert catalog.find("./chat") == Path("chat")
    assert catalog.find("gone.yaml", folder=Path("folder")) == Path("folder/gone.yaml")


@pytest.mark.parametrize(
    ("reference", "why"),
    [
        ("mlperf-inferense", "unknown ruleset 'mlperf-inferense'; did you mean 'mlperf-inference'?"),
        (
            "mlperf-inference@6.1",
            "no version '6.1' of mlperf-inference; did you mean 'mlperf-inference@v6.1'?",
        ),
        (
            "mlperf-inference@v9",
            "no version 'v9' of mlperf-inference; did you mean 'mlperf-inference@v6.1'?",
        ),
        ("chat@", "'chat@' names no version; chat is its newest, which is chat@1"),
        ("zzz", "unknown ruleset 'zzz'; choose one of"),
    ],
)
def test_an_unknown_name_gets_the_nearest_as_a_suggestion(reference: str, why: str) -> None:
    """Of names, or of versions."""
    with pytest.raises(RulesetError) as refused:
        catalog.find(reference)
    assert why in str(refused.value)


def test_the_sources_of_other_models_are_left_out(tmp_path: Path) -> None:
    """A rule's source is listed for the rule's model; a source that no rule names, for the ruleset."""
    path = tmp_path / "rules.yaml"
    path.write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1', source: [its own, of a, of b, of both]}\n"
        "models:\n"
        "  a: {scenarios: {s: {targets: [{metric: qps, op: '>', value: 1, source: of a}]}}}\n"
        "  b:\n    accuracy: [{metric: f1, min: {abs: 1}, source: of both}]\n"
        "    scenarios: {s: {targets: [{metric: qps, op: '>', value: 1, source: of b}]}}\n"
    )
    book = read(path)
    assert book.rulesets["a", "s"].source == ("its own", "of a")
    assert book.rulesets["b", "s"].source == ("its own", "of b", "of both")
