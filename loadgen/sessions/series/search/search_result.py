"""The result of a search: the load, the trials, and the reason for stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.series.search.strategy import (
    HIGHEST,
    SearchRange,
    StopReason,
    TrialVerdict,
    trial_bounds,
)
from reporter.run_facts import OVERLOADED
from rulesets.evaluators.rule_row import figure_text
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series.search.trials import EvaluatedTrial

SCHEMA_VERSION: Final = 1
_CODES: Final[Mapping[StopReason, int]] = {
    StopReason.PRECISION: ExitCode.PASS,
    StopReason.LOW_MISSES: ExitCode.FAIL,
    StopReason.HIGH_MEETS: ExitCode.PASS,
    StopReason.INVALID: ExitCode.INVALID,
    StopReason.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    StopReason.BUDGET: ExitCode.INCONCLUSIVE,
    StopReason.INTERRUPTED: ExitCode.INTERRUPTED,
}
_HIGHER: Final = 4
"""The factor to the top of a range for the next search, if the limit is above it."""
_PER: Final = {"per_gpu": "per GPU", "per_megawatt": "per MW"}
_UNITS: Final = {"rate": "req/s", "concurrency": "users"}


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search.

    Attributes:
        axis: `rate` or `concurrency`.
        bounds: The searched range.
        stopped: Why it ended.
        evaluated: The trials, with their verdicts.
        folder: The folder of the series.
    """

    axis: str
    bounds: SearchRange
    stopped: StopReason
    evaluated: Sequence[EvaluatedTrial]
    folder: Path

    @property
    def load(self) -> float | None:
        """The highest load that met every requirement; None if none was found."""
        return self.between[0] if self.stopped in {StopReason.PRECISION, StopReason.HIGH_MEETS} else None

    @property
    def between(self) -> tuple[float, float | None]:
        """The known bounds of the limit: a load that met, and one that did not; else the searched range.

        None for the upper end is a limit above the range.
        """
        if self.stopped is StopReason.LOW_MISSES:
            return self.bounds.low, self.bounds.high
        if self.stopped is StopReason.HIGH_MEETS:
            return self.bounds.high, None
        so_far = trial_bounds([trial.tried for trial in self.evaluated])
        low = self.bounds.low if so_far.met is None else so_far.met
        high = self.bounds.high if so_far.missed is None else so_far.missed
        return low, high

    @property
    def exit_code(self) -> int:
        """0 passed, 1 even the lowest load missed, 4 invalid, 5 inconclusive, 130 interrupted."""
        return _CODES[self.stopped]

    def to_dict(self) -> dict[str, Any]:
        """The content of search.json."""
        return {
            "schema_version": SCHEMA_VERSION,
            "found": self.stopped is StopReason.PRECISION,
            self.axis: self.load,
            "between": list(self.between),
            **self.shares,
            "stopped_because": self.stopped.value,
            "message": self.message,
            "tried": [self._row(trial) for trial in self.evaluated],
        }

    @property
    def shares(self) -> dict[str, float]:
        """The found load per GPU (`--gpus`), and per megawatt of measured power, where these are known."""
        load = self.load
        met = [trial.outcome.report for trial in self.evaluated if trial.tried.trial.load == load]
        if load is None or not met:
            return {}
        gpus, energy = met[-1].run.gpus, met[-1].energy
        watts = None if energy is None else energy.mean_watts
        return {
            **({"per_gpu": load / gpus} if gpus else {}),
            **({"per_megawatt": load / watts * 1e6} if watts else {}),
        }

    @property
    def message(self) -> str:
        """The result in a sentence or two."""
        (low, high), unit, bounds = self.between, _UNITS[self.axis], self.bounds
        reach = f"between {bounds.low:g} and {bounds.high:g} {unit}"
        last = self.evaluated[-1].why if self.evaluated else ""
        so_far = self._so_far()
        shares = "".join(f", {figure_text(share)} {_PER[name]}" for name, share in self.shares.items())
        best = f"Highest passing {self.axis}: {low:g} {unit}{shares}"
        higher = min(_HIGHER * bounds.high, HIGHEST[self.axis])
        wider = f": search --{self.axis} {bounds.high:g}..{higher:g}" if higher > bounds.high else ""
        return {
            StopReason.PRECISION: f"{best} ({self._next(high)})",
            StopReason.LOW_MISSES: f"No passing {self.axis} {reach}: even {bounds.low:g} failed: {last}",
            StopReason.HIGH_MEETS: f"{best}, the top of the range. The limit is above it{wider}",
            StopReason.INVALID: f"The client was the limit, which says nothing about the endpoint. {last}",
            StopReason.BUDGET: f"Time budget exhausted before a limit was found. So far: {so_far}.",
            StopReason.INCONCLUSIVE: f"No clear result {reach}. Longer trials may help (--point-duration), "
            f"or a percentile that needs fewer requests. {last}",
            StopReason.INTERRUPTED: f"Interrupted. So far: {so_far}.",
        }[self.stopped]

    def _so_far(self) -> str:
        so_far, unit = trial_bounds([trial.tried for trial in self.evaluated]), _UNITS[self.axis]
        if so_far.met is None and so_far.missed is None:
            return "no thorough trial passed or failed"
        if so_far.met is None:
            return f"the limit is below {so_far.missed:g} {unit}"
        if so_far.missed is None:
            return f"the limit is not below {so_far.met:g} {unit}"
        return f"the limit is between {so_far.met:g} and {so_far.missed:g} {unit}"

    def _next(self, load: float | None) -> str:
        """The result of the lowest load that did not pass."""
        if load is None:
            return ""
        why = next((trial.why for trial in reversed(self.evaluated) if trial.tried.trial.load == load), "")
        return f"{load:g} {'is unclear' if self._is_unclear(load) else 'failed'}: {why}"

    def _is_unclear(self, load: float) -> bool:
        verdicts = [trial.tried.verdict for trial in self.evaluated if trial.tried.trial.load == load]
        return bool(verdicts) and verdicts[-1] is TrialVerdict.UNCLEAR

    def _row(self, trial_run: EvaluatedTrial) -> dict[str, Any]:
        report, trial = trial_run.outcome.report, trial_run.tried.trial
        return {
            self.axis: trial.load,
            "thorough": trial.thorough,
            "verdict": trial_run.tried.verdict.value,
            "why": trial_run.why,
            "overloaded": trial_run.tried.limit is not None,
            "requests": report.counts.issued,
            "duration_s": report.window.duration_s,
            "qps": report.throughput.qps,
            "valid": report.validity.valid or any(finding.code == OVERLOADED for finding in report.findings),
            "accepted": report.validity.accepted,
            "folder": str(trial_run.outcome.folder.relative_to(self.folder)),
        }
