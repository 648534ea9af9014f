"""The page about rulesets, and the example that it names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rulesets import METRICS, RulesetFileError, Validity, judge, load, of_expressions
from rulesets.target import METRIC_ALIASES, STAT_ALIASES
from rulesets.verdict import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rulesets.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Give the only code block of a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(found)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_documented(metric: str) -> None:
    """Each metric has its row, with its units and operators."""
    (row,) = re.findall(rf"^\| `{metric}`.*$", PAGE, flags=re.MULTILINE)
    quantity = METRICS[metric]
    if quantity.kind == "latency":
        assert "| distribution | time | `<` `<=` |" in row
        return
    assert [stat for stat in quantity.stats if f"`{stat}`" not in row] == []
    assert [unit for unit in quantity.units if unit and f"`{unit}`" not in row] == []
    assert [op for op in quantity.ops if f"`{op}`" not in row] == [] or "all six" in row


def test_every_alias_and_time_unit_is_documented() -> None:
    """What can be written can be found."""
    aliases = {alias for alias in (*METRIC_ALIASES, *STAT_ALIASES) if alias != "p999"}
    assert [name for name in (*aliases, *METRICS["ttft"].units) if f"`{name}`" not in PAGE] == []


def test_the_documented_ruleset_is_one(tmp_path: Path) -> None:
    """The commented example is read, and its parts are what the comments say."""
    path = tmp_path / "chat.yaml"
    path.write_text(block("yaml"))
    ruleset = load(path)
    assert ruleset.validity == Validity(max_error_rate=0.01, min_samples=500, min_duration_s=120.0)
    assert [target.id for target in ruleset.targets] == [
        "ttft:p(95)<800ms",
        "error:rate<1%",
        "itl:p(99.9)<400ms!warn",
        "reading-speed",
    ]


def test_the_documented_mistake_is_reported_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message on the page is the one that a reader gets who makes that mistake in that file."""
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text(block("yaml").replace("unit: ms ", "unit: msec "))
    with pytest.raises(RulesetFileError) as refused:
        load("chat.yaml")
    assert str(refused.value) in PAGE


def test_the_documented_calls_do_what_is_said() -> None:
    """Each line of the Python example evaluates to the value beside it."""
    imports, *calls = block("python").split("\n\n")
    names: dict[str, Any] = {}
    exec(imports, names)  # noqa: S102 (the text is our own page)
    for line in calls[0].splitlines():
        call, said = line.split("#")
        assert repr(eval(call, names)) == said.split(";")[0].strip()  # noqa: S307 (the text is our own page)


def test_the_documented_verdict_is_given(make_report: Callable[..., Mapping[str, Any]]) -> None:
    """The JSON on the page is what a run with these figures gets."""
    report = make_report(latency_ms=1000 / 1.95, completed=500)
    said = json.loads(block("json"))
    given = judge(of_expressions(["ttft:p(95)<800ms"]), report).to_dict()
    assert given | {key: said[key] for key in ("ruleset", "version", "source")} == said


def test_the_documented_exit_codes_are_given() -> None:
    """Each status stands in the table with its exit code."""
    rows = re.findall(r"^\| `([A-Z]+)` \|.*\| (\d) \|$", PAGE, flags=re.MULTILINE)
    assert {status: int(code) for status, code in rows} == EXIT_CODES


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples" / "rulesets").glob("*.yaml")), ids=lambda path: path.name
)
def test_the_examples_are_rulesets(path: Path) -> None:
    """Every example is read, and asks for something that can fail."""
    assert any(target.severity == "fail" for target in load(path).targets)
