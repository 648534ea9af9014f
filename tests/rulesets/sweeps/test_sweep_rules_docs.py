"""What docs/sweep.md says of the rules over points."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rulesets import loading
from rulesets.sweeps import evaluate, regions

if TYPE_CHECKING:
    from rulesets.sweeps import Point

PAGE = (Path(__file__).parents[3] / "docs" / "sweep.md").read_text(encoding="utf-8")
REGIONS = ("ultra_low", "low", "medium", "high", "offline")
HEAD = 'schema: rulesets/1\nruleset: {name: ours, version: "1"}\n'
GATE = "accuracy: [{metric: NAME, min: {abs: 1}, runs: 2}]\n"


def test_the_documented_rules_are_all_there_are(tmp_path: Path, curve: list[Point]) -> None:
    """The example is read, and the rows that it makes are those of the table, with a region for REGION."""
    (example,) = re.findall(r"```yaml\n(sweep:.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "sweep.yaml").write_text(HEAD + GATE + example)
    sweep = loading.load(tmp_path / "sweep.yaml").sweep
    assert sweep is not None
    made = [
        re.sub(rf"regions\.({'|'.join(REGIONS)})$", "regions.REGION", row.id)
        for row in evaluate(sweep, curve)
    ]
    assert sorted(set(made)) == sorted(set(re.findall(r"^\| `(sweep\.\S+)` \|", PAGE, flags=re.MULTILINE)))


def test_the_documented_regions_are_computed_so() -> None:
    """The figures of the example are those of the code."""
    cut = regions(1024, 8)
    first, last = zip(*(cut.span(region) for region in ("low", "medium", "high")), strict=True)
    spans = ", ".join(f"{low} to {other}" for low, other in zip(first, last, strict=True))
    assert f"C_max 1024 and C_min 8 make {spans}, and a margin to {cut.margin}." in PAGE
