"""An optimization for the terminal: a row per variant, and the conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.tool_selection.optimization.variant_table import accuracy_of
from reporter.render.console_page import draw, tables, text
from reporter.render.table import Column, Table

if TYPE_CHECKING:
    from loadgen.plugins.tool_selection.optimization.candidate_evidence import StepResult
    from loadgen.plugins.tool_selection.optimization.variant_steps import Optimized
    from loadgen.plugins.tool_selection.optimization.variant_table import OptimizationOutcome

_NAMES = ("variant", "format", "metric", "baseline", "optimized", "tokens in/out", "status")


def table(result: OptimizationOutcome, *, width: int, color: bool = False) -> str:
    """Accuracy and score of the validation, before and after, and the decision."""
    columns = tuple(Column(name, justify="left", folds=name == "status") for name in _NAMES)
    cells = tuple(map(_cells, result.variants))
    rows = tables(Table(columns, cells), width=width) if cells else []
    spent = f"{result.spent.calls:,} calls, {result.spent.tokens:,} tokens"
    dollars = f", ${result.spent.dollars:,.4f}" if result.spent.dollars else ""
    scenarios = f"{result.training} training and {result.validation} validation scenarios of {result.tools}"
    conclusions = [text(ended.message) for ended in result.variants]
    return draw([rows, conclusions, [text(f"{scenarios}; {spent}{dollars}")]], width=width, color=color)


def _cells(ended: Optimized) -> tuple[str, ...]:
    variant, last = ended.variant, ended.validated or ended.baseline
    tokens = [
        "-" if last is None or count is None else f"{count:,.0f}"
        for count in (last.tokens if last else (None,) * 2)
    ]
    figures = (_figures(ended.baseline), _figures(ended.validated), "/".join(tokens))
    return (variant.name, variant.form, variant.metric, *figures, ended.status.value)


def _figures(result: StepResult | None) -> str:
    accuracy = None if result is None else accuracy_of(result)
    if result is None or accuracy is None:
        return "-"
    return f"{accuracy:.1%}" + ("" if result.score is None else f" ({result.score:.3f})")
