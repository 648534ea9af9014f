"""The target and the format of an optimization of descriptions.

The scores are those of clchinkc/document-mcp at 7c6a2526, `benchmarks/metrics.py`: docs/tool-selection.md.
Each variant optimizes its own score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loadgen.plugins.tool_selection.selection_task import HEADLINES

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Variant:
    """An objective.

    Attributes:
        name: Of the headline of `tool_selection` that is its score.
        form: The format of the descriptions.
        metric: The score in a word, as tables show it.
    """

    name: str
    form: str
    metric: str

    @property
    def sql(self) -> str:
        """The score of a set of answers, as an aggregate over `scores`."""
        return next(headline.sql for headline in HEADLINES if headline.name == self.name)


VARIANTS: Final[Mapping[str, Variant]] = {
    variant.name: variant
    for variant in (
        Variant("cost_optimized", "minimal", "50/25/25"),
        Variant("accuracy_balanced", "compact", "ratio"),
        Variant("maximum_accuracy", "full", "accuracy"),
    )
}
