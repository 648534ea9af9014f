"""The page about rulesets, and the example that it names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rulesets import ReportEvidence, RulesetFileError, ValidityDemand, evaluate, load, of_expressions
from rulesets.loading import read
from rulesets.quantity import COMPARE
from rulesets.reading.ruleset_schema import schema
from rulesets.verdict import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rulesets.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Give the first code block of a language."""
    return blocks(language)[0]


def blocks(language: str) -> list[str]:
    """Give all code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def section(page: str, heading: str) -> str:
    """Give a part of another page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


def test_the_documented_ruleset_is_valid(tmp_path: Path) -> None:
    """The commented example is read, and its parts are what the comments say."""
    path = tmp_path / "chat.yaml"
    path.write_text(block("yaml"))
    ruleset = load(path)
    assert ruleset.validity == ValidityDemand(max_error_rate=0.01, min_samples=500, min_duration_s=120.0)
    assert [target.id for target in ruleset.targets] == [
        "ttft:p(95)<800ms",
        "error:rate<1%",
        "itl:p(99.9)<400ms!warn",
        "reading-speed",
    ]


@pytest.mark.parametrize("text", [text for text in blocks("yaml") if text.startswith("schema:")])
def test_every_documented_file_is_right(text: str, tmp_path: Path) -> None:
    """Each whole file on the page is read, for all its models and scenarios."""
    path = tmp_path / "page.yaml"
    path.write_text(text)
    assert all(ruleset.targets for ruleset in read(path).rulesets.values())


def test_every_key_is_documented() -> None:
    """Each key of a file, at any depth, is on the page, and so is each word that a key takes.

    The values of `definitions` are those of docs/metrics.md, the parts of `sweep` those of docs/sweep.md.
    """
    words: set[str] = set()
    text = PAGE + section("metrics.md", "Definitions") + section("sweep.md", "Rules over the points")

    def collect(schema: Any) -> None:
        words.update(schema.get("properties", ()))
        words.update(word for word in schema.get("enum", ()) if word not in COMPARE)
        parts = [
            *schema.get("properties", {}).values(),
            *schema.get("anyOf", ()),
            *schema.get("$defs", {}).values(),
        ]
        for part in [*parts, schema.get("items"), schema.get("additionalProperties")]:
            if isinstance(part, dict):
                collect(part)

    collect(schema())
    assert [word for word in words if not re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", text)] == []


def test_the_documented_mistake_is_reported_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message on the page is the one that a reader gets who makes that mistake in that file."""
    monkeypatch.chdir(tmp_path)
    Path("chat.yaml").write_text(block("yaml").replace("unit: ms ", "unit: msec "))
    with pytest.raises(RulesetFileError) as refused:
        load("chat.yaml")
    assert str(refused.value) in PAGE


def test_the_documented_calls_return_what_the_page_says() -> None:
    """Each line of the Python example evaluates to the value in its comment."""
    imports, *calls = block("python").split("\n\n")
    names: dict[str, Any] = {}
    exec(imports, names)  # noqa: S102 (the text is our own page)
    for line in calls[0].splitlines():
        call, comment = line.split("#")
        assert repr(eval(call, names)) == comment.split(";")[0].strip()  # noqa: S307 (the text is our own page)


def test_the_documented_verdict_is_that_of_a_run(make_report: Callable[..., Mapping[str, Any]]) -> None:
    """A run with these figures gets the JSON on the page."""
    report = make_report(latency_ms=1000 / 1.95, completed=500)
    documented = json.loads(block("json"))
    verdict = evaluate(of_expressions(["ttft:p(95)<800ms"]), ReportEvidence(report)).to_dict()
    assert verdict | {key: documented[key] for key in ("ruleset", "version", "source")} == documented


def test_the_documented_exit_codes_are_those_of_the_statuses() -> None:
    """The table has each status with its exit code."""
    rows = re.findall(r"^\| `([A-Z]+)` \|.*\| (\d) \|$", PAGE, flags=re.MULTILINE)
    assert {status: int(code) for status, code in rows} == EXIT_CODES


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples" / "rulesets").glob("*.yaml")), ids=lambda path: path.name
)
def test_the_examples_are_rulesets(path: Path) -> None:
    """Every example is read, and asks for something that can fail."""
    assert any(target.severity == "fail" for target in load(path).targets)
