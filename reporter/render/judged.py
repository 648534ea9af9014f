"""A verdict with what a reader has to know of its run, which may be one of several."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from reporter.findings.acceptance import IN_WORDS
from reporter.render.page import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.report import Report

_UNNAMED: Final = "run"
_MOST_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class NamedVerdict:
    """A verdict and whose it is.

    Attributes:
        verdict: `Verdict.to_dict()`.
        name: What tells the run from the others that are judged with it; empty for the only one.
        run: The report's `run`; empty for rules over several runs.
        duration_s: How long the run was measured.
        accuracy: The report's `accuracy`: what the run scored.
        cost: The report's `cost`, where prices were given.
    """

    verdict: Mapping[str, Any]
    name: str = ""
    run: Mapping[str, Any] | None = None
    duration_s: float | None = None
    accuracy: Sequence[Mapping[str, Any]] = ()
    cost: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, report: Report, name: str = "") -> NamedVerdict:
        """The verdict of a report that has one."""
        cost = None if report.cost is None else asdict(report.cost)
        return cls(report.verdict or {}, name, report.run, report.window.duration_s, report.accuracy, cost)

    @property
    def status(self) -> str:
        """The status of the whole."""
        return str(self.verdict.get("status", ""))

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Its rules."""
        rows: Sequence[Mapping[str, Any]] = self.verdict.get("rows") or ()
        return rows

    @property
    def is_one_of_several(self) -> bool:
        """Whether it is a run of a series, and no rules over several runs."""
        return bool(self.name) and self.run is not None

    @property
    def accepted(self) -> Sequence[str]:
        """Why the run is invalid in spite of its status, as sentences; empty where it is not."""
        return [f"INVALID, {IN_WORDS}: {reason}" for reason in self.verdict.get("accepted") or ()]

    @property
    def missed(self) -> Sequence[str]:
        """Why it did not pass, in short: why the whole is invalid, and the ids of the rules that count."""
        ids = [
            str(row.get("id") or row.get("target"))
            for row in self.rows
            if row.get("severity", "fail") == "fail" and row.get("status") not in {"PASS", "SKIP"}
        ]
        return [*(str(reason).rstrip(".") for reason in self.verdict.get("reasons") or ()), *ids]

    @property
    def where(self) -> str:
        """Which rules these are: `MODEL.SCENARIO`, the model that was run where the rules are for any."""
        model = self.verdict.get("model") or ""
        if model in {"", "*"}:
            model = (self.run or {}).get("model") or _UNNAMED
        return clean(f"{model}.{self.verdict.get('scenario') or 'default'}")

    def called(self, rule: Mapping[str, Any]) -> str:
        """A rule's id, after the name of its run where there are several."""
        own = rule.get("id") or rule.get("target") or "rule"
        return clean(f"{self.name}: {own}" if self.name else own)


def ruleset_of(verdict: Mapping[str, Any]) -> str:
    """Whose rules these are, and that they were changed where they were: `chat 1, changed`."""
    name = " ".join(filter(None, (verdict.get("ruleset"), verdict.get("version"))))
    changed = ", changed" if verdict.get("overrides") and not name.endswith(", changed") else ""
    return clean(f"{name}{changed}") if name else ""


def met(verdict: Mapping[str, Any]) -> str:
    """How many of the rules that could be judged were met: `8 of 9 rules met, 1 skipped`."""
    skipped = sum(row.get("status") == "SKIP" for row in verdict.get("rows") or ())
    after = f", {skipped} skipped" if skipped else ""
    return f"{share(verdict)} rules met{after}"


def share(verdict: Mapping[str, Any]) -> str:
    """The same, shorter: `8 of 9`."""
    told = [row.get("status") for row in verdict.get("rows") or ()]
    return f"{told.count('PASS')} of {len(told) - told.count('SKIP')}"


def in_short(missed: Sequence[str]) -> str:
    """The first of what did not pass, and how many more there are."""
    more = [f"and {len(missed) - _MOST_NAMED} more"]
    return ", ".join([*missed[:_MOST_NAMED], *more[: len(missed) > _MOST_NAMED]])
