"""The result of an optimization: a row per variant, and the output files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from loadgen.plugins.tool_selection.optimization.descriptions import parts_of, to_yaml
from loadgen.plugins.tool_selection.optimization.variant_steps import LEVEL, OptimizationStatus
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.files.series_file import write_json
from reporter.render.console_page import draw, tables, text
from reporter.render.table import Column, Table
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Spent, StepResult
    from loadgen.plugins.tool_selection.optimization.variant_steps import Optimized

RESULT: Final = "optimization.json"
SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class OptimizationOutcome:
    """The result of an optimization."""

    folder: Path
    tools: str
    training: int
    validation: int
    variants: Sequence[Optimized]
    spent: Spent
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """0 complete, whichever descriptions are kept; 5 where the budget allowed no validation; 130."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        is_short = any(variant.status is OptimizationStatus.BUDGET for variant in self.variants)
        return ExitCode.INCONCLUSIVE if is_short else ExitCode.PASS

    def to_dict(self) -> dict[str, Any]:
        """The content of optimization.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "tools": self.tools,
            "training_scenarios": self.training,
            "validation_scenarios": self.validation,
            "level": LEVEL,
            "interrupted": self.interrupted,
            "spent": self.spent._asdict(),
            "variants": [self._row(variant) for variant in self.variants],
        }

    def write(self) -> None:
        """Write optimization.json, and for each variant the descriptions that are kept.

        `--data FOLDER` with `descriptions=VARIANT` of `tool_selection` reads them.
        """
        write_json(self.folder / RESULT, self.to_dict())
        descriptions = self.folder / "descriptions"
        descriptions.mkdir(exist_ok=True)
        for ended in self.variants:
            name = ended.variant.name
            content = to_yaml(f"{self.tools}, {name}: {ended.status}", name, ended.descriptions)
            write_whole(descriptions / f"{name}.yaml", content)

    def _row(self, ended: Optimized) -> Mapping[str, Any]:
        return {
            "variant": ended.variant.name,
            "format": ended.variant.form,
            "metric": ended.variant.metric,
            "status": ended.status.value,
            "proposals": ended.proposals,
            "usable_proposals": ended.usable,
            "baseline": _validation(ended.baseline),
            "optimized": _validation(ended.validated),
            "change": None if ended.change is None else asdict(ended.change),
            "descriptions": {tool: parts_of(text) for tool, text in ended.descriptions.items()},
        }


def _validation(result: StepResult | None) -> Mapping[str, Any] | None:
    if result is None:
        return None
    input_tokens, output_tokens = result.tokens
    return {
        "accuracy": accuracy_of(result),
        "score": result.score,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "folder": result.folder,
    }


def accuracy_of(result: StepResult) -> float | None:
    """The share of scenarios with all steps correct."""
    answers = result.answers.values()
    return sum(answer.correct for answer in answers) / len(answers) if answers else None


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
    return f"{100 * accuracy:.1f} %" + ("" if result.score is None else f" ({result.score:.3f})")
