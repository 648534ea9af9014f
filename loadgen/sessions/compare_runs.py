"""Runs compared with each other: what `loadgen compare` computes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgen.sessions.error_exit_codes import with_urls
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import require_distinct
from reporter.compare.compare_sides import compare, primary
from reporter.compare.comparison import Comparison, Rules
from reporter.compare.side import ComparedRun, Side, common_scores, look
from reporter.references import evidence, has_log, log_head, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.compare import CompareSettings
    from reporter.compare.compared_metric import ComparedMetric
    from reporter.contents.compared_answers import ComparedAnswers


def compare_runs(settings: CompareSettings) -> Comparison:
    """Compare runs with the first one, or with the runs of a baseline.

    Raises:
        UsageError: A metric has no figure in any run, fewer than two runs are named, or one is named twice.
        LogError, NotARunError: A run cannot be read.
    """
    from loadgen.sessions.settings.tokenizer_options import load
    from reporter.compare.compared_metric import DECIDING, FURTHER, metric

    rules = _rules(settings)
    asked = list(dict.fromkeys(map(metric, settings.metric)))
    metrics = list(dict.fromkeys((*asked, *map(metric, (*DECIDING, *FURTHER)))))
    named = _named(settings.runs, settings.baseline)
    sides = _sides(named, metrics, rules, load(settings.tokenizer))
    _require_figures(sides, asked)
    deciding, notes = (asked, []) if asked else primary(sides)
    common, others = ([metric(name) for name in names] for names in common_scores(sides))
    first, last = ([], common) if settings.metric else (common, [])
    deciding = list(dict.fromkeys((*first, *deciding)))
    further = [other for other in dict.fromkeys((*last, *others, *metrics)) if other not in deciding]
    return compare(sides, deciding, further, rules, notes=notes)


def answers_of_comparison(comparison: Comparison) -> ComparedAnswers | None:
    """The answers of two runs to the same questions; None of other comparisons."""
    from reporter.contents.compared_answers import compared_answers
    from reporter.measured_run import measured
    from reporter.report_options import ReportOptions
    from rulesets.definitions import Definitions

    runs = [Path(run) for side in comparison.sides for run in side.runs]
    has_scores = any(row.metric.startswith("accuracy.") for row in comparison.rows)
    is_pair = [len(side.runs) for side in comparison.sides] == [1, 1]
    if not (has_scores and is_pair and all(map(has_log, runs))):
        return None
    with ExitStack() as stack:
        opened = [stack.enter_context(measured(run, Definitions(), ReportOptions())) for run in runs]
        return compared_answers([(evidence.log, report) for report, evidence in opened])


def _rules(settings: CompareSettings) -> Rules:
    if not 0 < settings.alpha < 1:
        raise UsageError(f"--alpha {settings.alpha:g}: a probability between 0 and 1 is needed, such as 0.05")
    return Rules(settings.alpha, settings.min_effect, settings.min_points, strict=settings.strict)


def _named(runs: Sequence[Path], baseline: Sequence[Path]) -> list[tuple[str, list[Path]]]:
    """The sides by name, each with its runs, the reference first."""
    if len(runs) == len(baseline) == 1:
        runs, baseline = [*baseline, *runs], []
    if baseline:
        sides = [
            (name, [run for reference in references for run in runs_of(reference)])
            for name, references in (("baseline", baseline), ("runs", runs))
        ]
    elif len(runs) > 1:
        sides = [(with_urls(str(reference)), runs_of(reference)) for reference in runs]
    else:
        raise UsageError(f"only one run given ({runs[0]}): name a second one, or add --baseline RUN")
    require_distinct([run for _, of in sides for run in of])
    return sides


def _sides(
    named: Sequence[tuple[str, Sequence[Path]]],
    metrics: Sequence[ComparedMetric],
    rules: Rules,
    tokenizer: Any,
) -> list[Side]:
    """The sides, read one run after the other: one log at a time is in memory."""

    def looked(run: Path) -> ComparedRun:
        with evidence(run, tokenizer=tokenizer) as run_evidence:
            return look(with_urls(str(run)), run_evidence, log_head(run), metrics, rules.level)

    return [Side(name, tuple(map(looked, runs))) for name, runs in named]


def _require_figures(sides: Sequence[Side], asked: Sequence[ComparedMetric]) -> None:
    """Make sure that at least one run has each named metric: a tag may be misspelt."""
    for metric in asked:
        if not any(side.values(metric) for side in sides):
            raise UsageError(f"--metric {metric.name}: none of these runs has a figure of it")
