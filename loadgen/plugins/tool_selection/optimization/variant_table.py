"""The result of an optimization: a row per variant, and the output files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.tool_selection.optimization.decision import LEVEL, OptimizationStatus
from loadgen.plugins.tool_selection.optimization.descriptions import parts_of, to_yaml
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.files.series_file import write_json
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
    """The result of an optimization.

    Attributes:
        folder: Its folder.
        tools: The name of the tool set.
        training: How many scenarios proposals were made from.
        validation: How many scenarios decided.
        variants: The variants that have ended.
        spent: What all steps have cost.
        interrupted: Whether it was interrupted.
    """

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
