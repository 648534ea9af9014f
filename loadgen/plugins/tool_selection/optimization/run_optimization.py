"""An optimization of tool descriptions, from settings to files."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.observer import SILENT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Step, StepResult
    from loadgen.plugins.tool_selection.optimization.step_runs import Runs
    from loadgen.plugins.tool_selection.optimization.variant_steps import Optimized, Split
    from loadgen.plugins.tool_selection.optimization.variant_table import OptimizationOutcome
    from loadgen.plugins.tool_selection.optimize_settings import OptimizeSettings
    from loadgen.sessions.files.series_file import Series, SeriesPoint
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series_outcome import PointOutcome
    from loadgen.sessions.settings.perf import PerfSettings


def new_optimization(settings: OptimizeSettings, perf: Mapping[str, Any]) -> tuple[Path, Series, Secrets]:
    """Plan an optimization; nothing is sent.

    Returns:
        Its folder, which is created, its definition, and the secrets of its runs.

    Raises:
        UsageError: GEPA is not installed, a set of scenarios is empty, or the budget is too small.
        WorkloadError: The tool set does not exist, or a file is malformed.
    """
    from loadgen.sessions.extra_packages import importing
    from loadgen.sessions.files.series_file import Series, SeriesKind, new_series_folder
    from loadgen.sessions.series.point_options import Secrets

    if settings.optimizer == "gepa":
        with importing("loadgen optimize tools", "optimize"):
            import gepa  # noqa: F401
    definition = settings.definition(perf["seed"])
    chosen = _split(definition)
    least = len(settings.variants) * (len(chosen.training) + 2 * len(chosen.validation))
    if settings.max_calls is not None and settings.max_calls < least:
        raise UsageError(
            f"--max-calls {settings.max_calls}: training on the baseline and validating a proposal takes "
            f"{least} calls for {len(settings.variants)} variant{'s' * (len(settings.variants) > 1)}"
        )
    asked, reflecting = _common(settings, perf)
    folder = new_series_folder(settings.out, "optimize")
    points = {"asked": asdict(asked), "reflecting": asdict(reflecting)}
    series = Series(SeriesKind.OPTIMIZATION, {**definition, **points}, ())
    return folder, series, Secrets(perf["api_key"], tuple(perf["header"]))


def run_optimization(
    folder: Path, series: Series, secrets: Secrets, reflection_key: str | None, observer: Observer = SILENT
) -> OptimizationOutcome:
    """Run the steps that have not been run, and write the result."""
    from loadgen.plugins.tool_selection.optimization.step_runs import REFLECTION
    from loadgen.sessions.series.point_options import settings_of
    from loadgen.sessions.series.run_series import run_series

    def secrets_of(point: SeriesPoint) -> Secrets:
        if series.definition["reflection_url"] is not None and point.axes["step"] == REFLECTION:
            return replace(secrets, api_key=reflection_key)
        return secrets

    steps = _Steps(folder, series, lambda point: settings_of(point, secrets_of(point)))
    ended = run_series(folder, series, secrets_of, observer=observer, following=steps.following)
    outcome = steps.outcome(interrupted=ended.interrupted)
    outcome.write()
    return outcome


def optimization_outcome(
    folder: Path, series: Series, outcomes: Sequence[PointOutcome]
) -> OptimizationOutcome:
    """The result so far, by the steps that have been run."""
    from loadgen.sessions.series.point_options import settings_to_read

    steps = _Steps(folder, series, settings_to_read)
    return steps.outcome(interrupted=steps.following(outcomes) is not None)


class _Steps:
    """The steps of all variants, one after the other, with results."""

    def __init__(
        self, folder: Path, series: Series, settings_of: Callable[[SeriesPoint], PerfSettings]
    ) -> None:
        from loadgen.plugins.tool_selection.optimization.candidate_evidence import Spent
        from loadgen.plugins.tool_selection.selection_task import VARIANTS

        self._folder, self._definition = folder, series.definition
        self._split = _split(series.definition)
        self._runs = _runs(folder, series.definition, settings_of)
        self._variants = [VARIANTS[name] for name in series.definition["variants"]]
        self._ended: list[Optimized] = []
        self._spent = Spent()
        self._read = 0
        self._steps: Generator[Step, StepResult, Optimized] = self._begin()
        self._step: Step | None = next(self._steps)

    def following(self, outcomes: Sequence[PointOutcome]) -> SeriesPoint | None:
        """The run after those that have ended; None after the last."""
        for outcome in outcomes[self._read :]:
            self._take(outcome)
        if self._step is None:
            return None
        return self._runs.point(self._read, self._variants[len(self._ended)], self._step)

    def outcome(self, *, interrupted: bool) -> OptimizationOutcome:
        from loadgen.plugins.tool_selection.optimization.variant_table import OptimizationOutcome

        return OptimizationOutcome(
            self._folder,
            self._definition["tools"],
            len(self._split.training),
            len(self._split.validation),
            tuple(self._ended),
            self._spent,
            interrupted,
        )

    def _take(self, outcome: PointOutcome) -> None:
        """Go on to the next step with the result of this one."""
        if self._step is None:
            return
        result = self._runs.result(self._variants[len(self._ended)], self._step, outcome)
        self._spent = self._spent.plus(result.spent)
        self._read += 1
        try:
            self._step = self._steps.send(result)
        except StopIteration as end:
            self._ended.append(end.value)
            self._step = None
            if len(self._ended) < len(self._variants):
                self._steps = self._begin()
                self._step = next(self._steps)

    def _begin(self) -> Generator[Step, StepResult, Optimized]:
        """The steps of the next variant; each variant has an equal part of the budget."""
        from loadgen.plugins.tool_selection.optimization.candidate_evidence import OptimizationBudget
        from loadgen.plugins.tool_selection.optimization.descriptions import descriptions_of
        from loadgen.plugins.tool_selection.optimization.variant_steps import optimize
        from loadgen.plugins.tool_selection.tool_sets import load_tool_set

        asked, count = self._definition, len(self._variants)
        variant = self._variants[len(self._ended)]
        tools = load_tool_set(asked["tools"], self._runs.data, asked["descriptions"])
        budget = OptimizationBudget(
            None if asked["max_calls"] is None else asked["max_calls"] // count,
            None if asked["max_total_tokens"] is None else asked["max_total_tokens"] // count,
            None if asked["max_cost"] is None else asked["max_cost"] / count,
        )
        baseline = descriptions_of(tools, variant.form)
        return optimize(
            *(baseline, self._split, variant, budget),
            proposals=asked["proposals"],
            seed=asked["seed"],
            # A session of an earlier version has no choice of the optimizer.
            optimizer=asked.get("optimizer", "gepa"),
        )


def _split(definition: Mapping[str, Any]) -> Split:
    """The scenarios of the tool set, split."""
    from loadgen.plugins.tool_selection.optimization.variant_steps import split
    from loadgen.plugins.tool_selection.scenarios import get_benchmark_scenarios

    scenarios = get_benchmark_scenarios(
        tool_set_name=definition["tools"],
        levels=definition["levels"],
        data=None if definition["data"] is None else Path(definition["data"]),
    )
    return split(scenarios, definition["validation_share"], definition["seed"])


def _common(settings: OptimizeSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, SeriesPoint]:
    """The common part of the runs that ask scenarios, and of those that ask for proposals."""
    from loadgen.plugins.tool_selection.optimization.step_runs import REFLECTION
    from loadgen.sessions.series.point_options import point_of
    from loadgen.sessions.settings.accuracy import CONCURRENCY
    from loadgen.sessions.settings.perf import perf_settings

    has_load = perf["concurrency"] is not None or perf["rate"] is not None
    asked = {**perf, **({} if has_load else {"concurrency": CONCURRENCY})}
    reflecting = {
        **perf,
        "url": settings.reflection_url or perf["url"],
        "model": settings.reflection_model or perf["model"],
        "api_key": perf["api_key"] if settings.reflection_url is None else settings.reflection_api_key,
        "max_tokens": None,
        "concurrency": None,
        "rate": None,
    }
    return (
        point_of("scenarios", {"step": "scenarios"}, perf_settings(**asked)),
        point_of(REFLECTION, {"step": REFLECTION}, perf_settings(**reflecting)),
    )


def _runs(
    folder: Path, definition: Mapping[str, Any], settings_of: Callable[[SeriesPoint], PerfSettings]
) -> Runs:
    from loadgen.plugins.tool_selection.optimization.step_runs import Runs
    from loadgen.plugins.tool_selection.tool_files import load_model_config
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.settings.concerns import flat_values

    data = None if definition["data"] is None else Path(definition["data"])
    prices = (0.0, 0.0)
    if definition["cost_model"] is not None:
        model = load_model_config(definition["cost_model"], data)
        prices = (model.input_cost, model.output_cost)
    asked, reflecting = (
        flat_values(settings_of(SeriesPoint(**definition[kind]))) for kind in ("asked", "reflecting")
    )
    return Runs(
        folder.absolute(), definition["tools"], definition["selection"], data, asked, reflecting, prices
    )
