"""docs/scenarios.md has every scenario, and docs/mock.md every field of the truth about one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
from loadgen.mock_endpoint.scenarios.frame_writers import ALL, STREAMED
from loadgen.mock_endpoint.truth import PlayedTruth
from tests import golden
from tests.for_each import for_each

DOCS = Path(__file__).parents[2] / "docs"
BEGIN, END = "<!-- scenarios -->\n", "<!-- /scenarios -->"
SHORT = {ALL: "all", STREAMED: "all that stream"}


def row(name: str) -> str:
    """One scenario as a line of the table."""
    scenario = SCENARIOS[name]
    cells = [
        f"`{name}`",
        scenario.about,
        " or ".join(f"`{seen}`" for seen in scenario.sees),
        scenario.right,
        SHORT.get(scenario.protocols) or ", ".join(scenario.protocols),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def test_the_table_is_that_of_the_catalog() -> None:
    """`make golden` writes it again."""
    head = "| scenario | what the server does | must see | because | protocols |\n|---|---|---|---|---|"
    golden.check_part(DOCS / "scenarios.md", BEGIN, END, "\n".join([head, *map(row, SCENARIOS)]) + "\n")


@for_each("name", [field.name for field in fields(PlayedTruth)])
def test_every_field_of_the_truth_is_documented(name: str) -> None:
    """The page of the mock endpoint names it."""
    assert f"`{name}`" in (DOCS / "mock.md").read_text()
