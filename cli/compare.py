"""`loadgen compare`: runs beside each other, and whether they differ by more than chance."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cli.compare_settings import CompareSettings
    from reporter.compare.comparison import Comparison, Rules
    from reporter.compare.metric import Metric
    from reporter.compare.side import Side


def compare(settings: CompareSettings) -> None:
    """Compare runs with the first one, or with the runs of a baseline.

    Each metric is shown with its interval in each run, its difference with the interval of that, and the
    difference that could have been seen. Exit 1 when one that decides is significantly worse, by more than
    --min-effect; 5 when nothing could be tested, or runs are too few for their test; else 0: no significant
    difference is an answer. One run a side cannot see how runs differ from each other; a baseline of several
    can.

    [bold]Examples[/bold]

    loadgen compare runs/old runs/new

    loadgen compare runs/new-1 runs/new-2 --baseline runs/old-1 --baseline runs/old-2 --metric output_tps

    loadgen compare artifacts/main artifacts/change --markdown comparison.md
    """
    from cli.gating.outcome import exit_code
    from cli.run_folder import require_no_log
    from cli.tokenizer import load
    from reporter.compare.comparing import compare as compared
    from reporter.compare.metric import DECIDING, FURTHER, metric

    rules = _rules(settings)
    _require_plot(wanted=settings.plot is not None)
    deciding = list(dict.fromkeys(map(metric, settings.metric or DECIDING)))
    further = [one for one in map(metric, (*DECIDING, *FURTHER)) if one not in deciding]
    for option, path in (("--markdown", settings.markdown), ("--plot", settings.plot)):
        require_no_log(option, path)
    named = _named(settings.runs, settings.baseline)
    sides = _sides(named, [*deciding, *further], rules, load(settings.tokenizer))
    _require_figures(sides, deciding if settings.metric else [])
    comparison = compared(sides, deciding, further, rules, by_runs=bool(settings.baseline))
    _write(comparison, settings)
    _print(comparison, json=settings.json)
    raise typer.Exit(exit_code(comparison.status))


def _rules(settings: CompareSettings) -> Rules:
    from reporter.compare.comparison import Rules

    if not 0 < settings.alpha < 1:
        raise UsageError(f"--alpha {settings.alpha:g}: a probability between 0 and 1 is needed, such as 0.05")
    return Rules(settings.alpha, settings.min_effect, settings.min_points, strict=settings.strict)


def _named(runs: Sequence[Path], baseline: Sequence[Path]) -> list[tuple[str, list[Path]]]:
    """The sides by name, each with its runs; the first is the reference."""
    from cli.run_folder import require_distinct
    from reporter.compare.references import runs_of

    if baseline:
        sides = [
            (name, [run for reference in references for run in runs_of(reference)])
            for name, references in (("baseline", baseline), ("runs", runs))
        ]
    elif len(runs) > 1:
        sides = [(str(reference), runs_of(reference)) for reference in runs]
    else:
        raise UsageError(f"{runs[0]} is to be compared with what? Name another run, or give --baseline RUN")
    require_distinct([run for _, of in sides for run in of])
    return sides


def _sides(
    named: Sequence[tuple[str, Sequence[Path]]], metrics: Sequence[Metric], rules: Rules, tokenizer: Any
) -> list[Side]:
    """What the runs come to, read one after the other: so one log at a time is in memory."""
    from reporter.compare.references import evidence, told
    from reporter.compare.side import Run, Side, look

    def looked(run: Path) -> Run:
        with evidence(run, tokenizer=tokenizer) as found:
            return look(str(run), found, told(run), metrics, rules.level)

    return [Side(name, tuple(map(looked, runs))) for name, runs in named]


def _require_figures(sides: Sequence[Side], asked: Sequence[Metric]) -> None:
    """What was asked for by name is there, in one run at least: a tag may be misspelt."""
    for metric in asked:
        if not any(side.values(metric) for side in sides):
            raise UsageError(f"--metric {metric.name}: none of these runs has a figure of it")


def _write(comparison: Comparison, settings: CompareSettings) -> None:
    from cli.gating.outputs import lay

    if settings.markdown is not None:
        from reporter.render.comparison_markdown import render as as_markdown

        lay("--markdown", settings.markdown, as_markdown(comparison))
    if settings.plot is not None:
        from reporter.render.comparison_plot import render as as_svg

        lay("--plot", settings.plot, as_svg(comparison))


def _print(comparison: Comparison, *, json: bool) -> None:
    from cli.pipe import end_with_the_reader

    end_with_the_reader()
    if json:
        import orjson

        from reporter.render.json import printable

        told = orjson.dumps(comparison.to_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        sys.stdout.write(printable(told.decode()))
    else:
        from cli.show import page
        from reporter.render.comparison import render

        sys.stdout.write(render(comparison, **page()))


def _require_plot(*, wanted: bool) -> None:
    from importlib.util import find_spec

    if wanted and find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'llm-loadgen[plot]'")
