"""What a search found, what it tried, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cli.errors import INTERRUPTED, INVALID, PASS
from cli.searching.strategy import Stopped, Verdict, known
from reporter.sweep import OVERLOADED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cli.searching.strategy import Bounds
    from cli.searching.trials import Judged

SCHEMA_VERSION: Final = 1
_NOT_FOUND: Final = 1
_INCONCLUSIVE: Final = 5
_CODES: Final[Mapping[Stopped, int]] = {
    Stopped.PRECISION: PASS,
    Stopped.LOW_MISSES: _NOT_FOUND,
    Stopped.HIGH_MEETS: _NOT_FOUND,
    Stopped.INVALID: INVALID,
    Stopped.INCONCLUSIVE: _INCONCLUSIVE,
    Stopped.BUDGET: _INCONCLUSIVE,
    Stopped.INTERRUPTED: INTERRUPTED,
}
_UNITS: Final = {"rate": "requests/s", "concurrency": "users"}


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a search.

    Attributes:
        axis: `rate` or `concurrency`.
        bounds: Where was searched.
        stopped: Why it ended.
        judged: What was tried.
        folder: That of the series.
    """

    axis: str
    bounds: Bounds
    stopped: Stopped
    judged: Sequence[Judged]
    folder: Path

    @property
    def load(self) -> float | None:
        """The highest load that met every requirement; None when it was not found."""
        return self.between[0] if self.stopped is Stopped.PRECISION else None

    @property
    def between(self) -> tuple[float, float]:
        """Where the limit is, as far as is known: what met, and what did not; else where was searched."""
        if self.stopped in {Stopped.LOW_MISSES, Stopped.HIGH_MEETS}:
            return self.bounds.low, self.bounds.high
        so_far = known([one.tried for one in self.judged])
        low = self.bounds.low if so_far.met is None else so_far.met
        high = self.bounds.high if so_far.missed is None else so_far.missed
        return low, high

    @property
    def exit_code(self) -> int:
        """0 found, 1 not found, 4 invalid, 5 inconclusive, 130 interrupted."""
        return _CODES[self.stopped]

    def to_dict(self) -> dict[str, Any]:
        """What search.json has."""
        return {
            "schema_version": SCHEMA_VERSION,
            "found": self.load is not None,
            self.axis: self.load,
            "between": list(self.between),
            "stopped_because": self.stopped.value,
            "message": self.message,
            "tried": [self._row(one) for one in self.judged],
        }

    @property
    def message(self) -> str:
        """All in a sentence or two."""
        (low, high), unit = self.between, _UNITS[self.axis]
        reach = f"not found between {self.bounds.low:g} and {self.bounds.high:g} {unit}"
        last = self.judged[-1].why if self.judged else ""
        what = "is not clear" if self._is_unclear(high) else "does not"
        so_far = self._so_far()
        return {
            Stopped.PRECISION: f"{low:g} {unit} meets what is required; {high:g} {what}: {self._why(high)}",
            Stopped.LOW_MISSES: f"{reach}: even {self.bounds.low:g} misses. {last}",
            Stopped.HIGH_MEETS: f"{reach}: even {self.bounds.high:g} meets what is required.",
            Stopped.INVALID: f"the client was the limit, which says nothing of the endpoint. {last}",
            Stopped.BUDGET: f"the time was over before it was found: {so_far}.",
            Stopped.INCONCLUSIVE: f"{reach}: no trial was clear. Longer ones may be (--point-duration), or a "
            f"percentile that fewer requests can tell. {last}",
            Stopped.INTERRUPTED: f"interrupted: so far {so_far}.",
        }[self.stopped]

    def _so_far(self) -> str:
        """What is known of a search that is not over."""
        so_far, unit = known([one.tried for one in self.judged]), _UNITS[self.axis]
        if so_far.met is None and so_far.missed is None:
            return "no thorough trial tells where it is"
        if so_far.met is None:
            return f"it is below {so_far.missed:g} {unit}"
        if so_far.missed is None:
            return f"it is not below {so_far.met:g} {unit}"
        return f"it is between {so_far.met:g} and {so_far.missed:g} {unit}"

    def _why(self, load: float) -> str:
        return next((one.why for one in reversed(self.judged) if one.tried.trial.load == load), "")

    def _is_unclear(self, load: float) -> bool:
        at = [one.tried.verdict for one in self.judged if one.tried.trial.load == load]
        return bool(at) and at[-1] is Verdict.UNCLEAR

    def _row(self, one: Judged) -> dict[str, Any]:
        report, trial = one.outcome.report, one.tried.trial
        return {
            self.axis: trial.load,
            "thorough": trial.thorough,
            "verdict": one.tried.verdict.value,
            "why": one.why,
            "overloaded": one.tried.limit is not None,
            "requests": report.counts.issued,
            "duration_s": report.window.duration_s,
            "qps": report.throughput.qps,
            "valid": report.validity.valid or any(found.code == OVERLOADED for found in report.findings),
            "folder": str(one.outcome.folder.relative_to(self.folder)),
        }
