"""`loadgen optimize tools` as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.background import in_background
from loadgen.measure import split_options
from loadgen.plugins.tool_selection.optimization.run_optimization import new_optimization, run_optimization
from loadgen.plugins.tool_selection.optimize_settings import REPLACED, OptimizeSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Unpack

    from loadgen.background import Progress
    from loadgen.options import OptimizeToolsOptions
    from loadgen.sessions.observer import Observer


@dataclass(frozen=True, slots=True)
class OptimizationResult:
    """The descriptions of tools that an optimization keeps.

    Attributes:
        folder: That of the optimization.
        descriptions: The file of the kept descriptions, by variant.
        summary: What `optimization.json` has: `spent`, and `variants` with their status and figures.
    """

    folder: Path
    descriptions: Mapping[str, Path]
    summary: Mapping[str, Any]


def optimize_tools(
    *, progress: Callable[[Progress], None] | None = None, **options: Unpack[OptimizeToolsOptions]
) -> OptimizationResult:
    """Improve the descriptions of a tool set for a model: `loadgen optimize tools`.

    Args:
        progress: As for `perf`; `run` has the number of the step.
        **options: The options of `loadgen optimize tools`.

    Raises:
        UsageError, SetupError, RunError, KeyboardInterrupt: As `perf`.
    """
    settings, common = split_options(OptimizeSettings, options, REPLACED)

    def work(observer: Observer) -> OptimizationResult:
        folder, series, secrets = new_optimization(settings, common)
        outcome = run_optimization(folder, series, secrets, settings.reflection_api_key, observer)
        if outcome.interrupted:
            raise KeyboardInterrupt
        descriptions = {file.stem: file for file in sorted((folder / "descriptions").glob("*.yaml"))}
        return OptimizationResult(folder, descriptions, outcome.to_dict())

    return in_background(work, progress)
