"""`loadgen optimize tools`: better descriptions of tools for a model, as a series of runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.tool_selection.optimize_settings import OptimizeSettings
    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series_outcome import PointOutcome
    from loadgen.sessions.settings.resume import ResumeSettings


def tools(settings: OptimizeSettings, perf: Mapping[str, Any]) -> None:
    """Improve the descriptions of a tool set for a model.

    A model proposes descriptions from its mistakes on training scenarios, and GEPA chooses among them. The
    best one is kept only if it is significantly better on validation scenarios that no proposal was made
    from. Every request is in the log of a run; [bold]loadgen resume FOLDER[/bold] continues an interrupted
    session. The folder has the descriptions as YAML, for tool_selection:descriptions=VARIANT with --data
    FOLDER. Exit 0 when it is complete, whether descriptions were improved or not; 5 when the budget allowed
    no validation.

    [bold]Examples[/bold]

    loadgen optimize tools --url $URL --model llama --tools 8-tool --variant cost_optimized

    loadgen optimize tools --url $URL --model llama --all-variants --mode medium --max-calls 5000
    """
    from loadgen.plugins.tool_selection.optimization.run_optimization import new_optimization

    series = new_optimization(settings, perf)
    _conduct(
        *series,
        settings.reflection_api_key,
        json=settings.json,
        quiet=settings.quiet,
        live=not perf["no_live"],
    )


def resume(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Continue an optimization; the key of a reflecting model comes from the environment."""
    import os

    from loadgen.sessions.series.point_options import Secrets

    secrets = Secrets(settings.api_key, tuple(settings.header))
    key = os.environ.get("LOADGEN_REFLECTION_API_KEY")
    _conduct(folder, series, secrets, key, json=settings.json, quiet=settings.quiet)


def shown(
    folder: Path, series: Series, outcomes: Sequence[PointOutcome], *, width: int, color: bool = False
) -> tuple[str, Mapping[str, Any]]:
    """The final output of the command, as text and as JSON."""
    from loadgen.plugins.tool_selection.optimization.run_optimization import optimization_outcome
    from loadgen.plugins.tool_selection.optimization.variant_table import table

    outcome = optimization_outcome(folder, series, outcomes)
    return table(outcome, width=width, color=color), outcome.to_dict()


def conclusions(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> list[str]:
    """One sentence per variant that has ended."""
    from loadgen.plugins.tool_selection.optimization.run_optimization import optimization_outcome

    return [variant.message for variant in optimization_outcome(folder, series, outcomes).variants]


def _conduct(
    folder: Path,
    series: Series,
    secrets: Secrets,
    reflection_key: str | None,
    *,
    json: bool,
    quiet: bool,
    live: bool = True,
) -> None:
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.cli.terminal.show import page
    from loadgen.plugins.tool_selection.optimization.run_optimization import run_optimization
    from loadgen.plugins.tool_selection.optimization.variant_table import RESULT, table
    from loadgen.sessions.errors import printable

    result = run_optimization(folder, series, secrets, reflection_key, Terminal(quiet=quiet, live=live))
    sys.stdout.write((folder / RESULT).read_text() if json else table(result, **page()))
    if not quiet:
        print(f"\nThe optimization is in {printable(str(folder))}", file=sys.stderr)
    raise SystemExit(result.exit_code)
