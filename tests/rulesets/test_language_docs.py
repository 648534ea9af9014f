"""The page about rulesets, where it says what a target can be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from rulesets import METRICS, ExpressionError, parse
from rulesets.confidence import methods
from rulesets.demands import Method
from rulesets.metric_table import quantity_of
from rulesets.quantity import METRIC_ALIASES, STAT_ALIASES
from tests.for_each import for_each

PAGE = (Path(__file__).parents[2] / "docs" / "rulesets.md").read_text(encoding="utf-8")
PROOFS, METRICS_TABLE = PAGE.split("### Confidence")[1].split("## Metrics, statistics and units")


@for_each("metric", [*METRICS, "accuracy.NAME"])
def test_every_metric_is_documented(metric: str) -> None:
    """Each metric is in one row, with its statistics, units and operators."""
    (row,) = re.findall(rf"^\| [^|\n]*`{metric}(?:\(…\))?`.*$", METRICS_TABLE, flags=re.MULTILINE)
    quantity = quantity_of(metric)
    stats, units, ops = row.split("|")[3:6]
    assert ("distribution" in stats) == quantity.percentiles
    assert [stat for stat in quantity.stats if f"`{stat}`" not in stats] == [] or quantity.percentiles
    assert [unit for unit in quantity.units if unit and f"`{unit}`" not in units] == [] or "time" in units
    assert re.findall("`(.+?)`", ops) == list(quantity.ops) or "all six" in ops


def test_every_alias_and_time_unit_is_documented() -> None:
    """What can be written can be found."""
    aliases = {alias for alias in (*METRIC_ALIASES, *STAT_ALIASES) if alias != "p999"}
    assert [name for name in (*aliases, *METRICS["ttft"].units) if f"`{name}`" not in PAGE] == []


def test_every_method_is_documented() -> None:
    """With what it is for, and those of the table are the ones that there are."""
    rows = re.findall(r"^\| (`?[a-z].*) \| (`[a-z_]+`.*) \| (.*) \|$", PROOFS, flags=re.MULTILINE)
    documented = {figure: re.findall("`([a-z_]+)`", f"{method} {others}") for figure, method, others in rows}
    assert documented == {
        "percentiles of latencies, lengths and `tps_per_user`": ["effective", "order_stat"],
        "means of them": list(methods(METRICS["ttft"], "mean", delta=False)),
        "`qps`, `output_tps`, `total_tps`, `tps_per_gpu`": list(
            methods(METRICS["qps"], "value", delta=False)
        ),
        "`error:rate`, `good(…):fraction`": list(methods(METRICS["good"], "fraction", delta=False)),
        "`accuracy.NAME`": list(methods(quantity_of("accuracy.x"), "value", delta=False)),
    }
    assert [name for name in get_args(Method) if name not in PROOFS and name != "mann_whitney"] == []


def test_the_documented_expressions_are_read() -> None:
    """Those of the console block are rules."""
    block_of = PAGE[PAGE.index("--require 'ttft:p(99)<2000ms@es99'") :].split("```")[0]
    expressions = re.findall(r"--require '(.+?)'", block_of)
    assert len({parse(expression).id for expression in expressions}) == len(expressions) == 6


@pytest.mark.parametrize(
    "never", ["error<0", "ttft:p(99)<0ms", "good(ttft<1s):fraction>1", "failed==0.5", "tps:delta>-200%"]
)
def test_what_the_page_calls_a_mistake_is_refused(never: str) -> None:
    """Targets that no run can meet."""
    assert f"`{never.replace('(ttft<1s)', '(…)')}`" in PAGE
    with pytest.raises(ExpressionError):
        parse(never)
