"""docs/builtin-rulesets.md tells what the files of rules hold: its tables are made of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rulesets import catalog, loading
from rulesets.expression import unparse
from tests import golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulesets.target import Target

PAGE = Path(__file__).parents[3] / "docs" / "builtin-rulesets.md"


@cache
def read(name: str) -> loading.Book:
    """Read a ruleset."""
    return loading.read(name)


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rulesets() -> str:
    """What there is."""

    def row(name: str) -> Sequence[str]:
        book = read(name)
        models = ["any" if entry.name == "*" else f"`{entry.name}`" for entry in book.entries]
        scenarios = dict.fromkeys(f"`{scenario}`" for entry in book.entries for scenario in entry.scenarios)
        return [f"`{name}`", ", ".join(models), ", ".join(scenarios), "yes" if book.locked else "no"]

    return table(["ruleset", "models", "scenarios", "locked"], map(row, catalog.names()))


def inference() -> str:
    """What the rounds of MLPerf Inference demand, with the rounds that demand it."""
    rounds: dict[Sequence[str], list[str]] = {}
    for name in catalog.names():
        if not name.startswith("mlperf-inference@"):
            continue
        for (model, scenario), held in read(name).rulesets.items():
            if model != "*":
                bounds = (f"`{bounded(target)}`" for target in held.targets if counts(target))
                right = (f"`{gate(target)}`" for target in held.targets if target.id.startswith("accuracy."))
                line = (f"`{model}`", f"`{scenario}`", ", ".join(bounds) or "none", ", ".join(right))
                rounds.setdefault(line, []).append(name.partition("@")[2])
    return table(
        ["model", "scenario", "p99", "accuracy", "rounds"],
        ([*line, ", ".join(rulesets)] for line, rulesets in sorted(rounds.items())),
    )


def counts(target: Target) -> bool:
    """Whether a target is one of the two rows of a bound: the checker's, which has no confidence."""
    return target.severity == "fail" and target.confidence is None and not target.id.startswith("accuracy.")


def bounded(target: Target) -> str:
    """A bound without its statistic."""
    return f"{target.metric} {target.op} {target.value:g} {target.unit}"


def gate(target: Target) -> str:
    """A gate without the words that all of them have."""
    return f"{target.metric.removeprefix('accuracy.')} {target.op} {target.value:.10g}"


def starters() -> str:
    """The targets of the starters."""
    rows = (
        [f"`{name}`", f"`{target.id}`", f"`{unparse(target)}`"]
        for name in ("chat@1", "batch@1")
        for held in read(name).rulesets.values()
        for target in held.targets
    )
    return table(["ruleset", "rule", "target"], rows)


@pytest.mark.parametrize("part", [rulesets, inference, starters])
def test_the_page_tells_what_the_files_hold(part: Callable[[], str]) -> None:
    """Each part of the page is made of the files; `make golden` writes it again."""
    name = part.__name__
    golden.check_part(PAGE, f"<!-- {name} -->", f"<!-- /{name} -->", f"\n\n{part()}\n\n")


def test_every_ruleset_is_written_about() -> None:
    """Each name is in the text, in addition to the tables."""
    text = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert all(f"`{name.partition('@')[0]}`" in text for name in catalog.names())


def test_the_example_extends_a_starter(tmp_path: Path) -> None:
    """The file on the page is read, tightens what it names, and keeps the rest."""
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "ours.yaml").write_text(example)
    ours = loading.load(tmp_path / "ours.yaml", model="llama")
    theirs = loading.load("chat", model="llama")
    changed = {t.id: t.value for t in ours.targets if t not in theirs.targets}
    assert changed == {"ttft-p95": 600}
    assert [t.id for t in ours.targets] == [t.id for t in theirs.targets]
    assert any("ttft-p95" in change for change in ours.overrides)
