"""A verdict with the facts of a run, possibly one of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from reporter.findings.acceptance import IN_WORDS
from reporter.render.console_page import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.report import Report
    from reporter.run_facts import RunFacts
    from reporter.values.task_score import TaskScore
    from rulesets.verdict import Verdict, VerdictRow

_UNNAMED: Final = "run"
_MOST_NAMED: Final = 4


@dataclass(frozen=True, slots=True)
class NamedVerdict:
    """A verdict with the run.

    Attributes:
        verdict: The verdict; None of a run that was scored without rules.
        name: The name of the run among those that are evaluated together; empty for the only one.
        run: The report's `run`; None for rules over several runs, and for a run that was not made.
        accuracy: The report's `accuracy`: what the run scored.
        over_runs: Whether these are rules over several runs.
        invalid_as: The word for `INVALID` in what people read: `OVERLOADED` where that is the reason.
    """

    verdict: Verdict | None
    name: str = ""
    run: RunFacts | None = None
    duration_s: float | None = None
    accuracy: Sequence[TaskScore] = ()
    cost: Mapping[str, Any] | None = None
    over_runs: bool = False
    invalid_as: str = "INVALID"

    @classmethod
    def of(cls, report: Report, name: str = "") -> NamedVerdict:
        """The verdict of a report that has one."""
        cost = None if report.cost is None else asdict(report.cost)
        validity = report.validity
        return cls(
            *(report.verdict, name, report.run, report.window.duration_s, report.accuracy, cost),
            invalid_as="INVALID" if validity.valid else validity.label,
        )

    @property
    def status(self) -> str:
        """The status of the whole."""
        return self.verdict.status if self.verdict else ""

    @property
    def label(self) -> str:
        """The status in the word that people read."""
        return self.invalid_as if self.status == "INVALID" else self.status

    @property
    def rows(self) -> Sequence[VerdictRow]:
        """The rules of the verdict."""
        return self.verdict.rows if self.verdict else ()

    @property
    def reasons(self) -> Sequence[str]:
        """Why the run is invalid."""
        return self.verdict.reasons if self.verdict else ()

    @property
    def is_one_of_several(self) -> bool:
        """Whether the verdict is on a run of a series, rather than on rules over several runs."""
        return bool(self.name) and not self.over_runs

    @property
    def accepted(self) -> Sequence[str]:
        """The accepted reasons for invalidity, as sentences; empty for a valid run."""
        accepted = self.verdict.accepted if self.verdict else ()
        return [f"{self.invalid_as}, {IN_WORDS}: {reason}" for reason in accepted]

    @property
    def missed(self) -> Sequence[str]:
        """The reasons for not passing, in short: reasons for invalidity, and the ids of missed rules."""
        ids = [row.id for row in self.rows if row.severity == "fail" and row.status not in {"PASS", "SKIP"}]
        return [*(reason.rstrip(".") for reason in self.reasons), *ids]

    @property
    def where(self) -> str:
        """Which rules these are: `MODEL.SCENARIO`, the model that was run where the rules are for any."""
        model, scenario = (self.verdict.model, self.verdict.scenario) if self.verdict else ("", "")
        if model in {"", "*"}:
            model = (self.run.model if self.run else None) or _UNNAMED
        return clean(f"{model}.{scenario or 'default'}")

    def called(self, rule: VerdictRow) -> str:
        """A rule's id, after the run's name if there are several runs."""
        return clean(f"{self.name}: {rule.id}" if self.name else rule.id)


def ruleset_of(verdict: Verdict | None) -> str:
    """The name of the rules, and whether the user changed them: `chat 1, changed`."""
    if verdict is None:
        return ""
    name = " ".join(filter(None, (verdict.ruleset, verdict.version)))
    changed = ", changed" if verdict.overrides and not name.endswith(", changed") else ""
    return clean(f"{name}{changed}") if name else ""


def met(rows: Sequence[VerdictRow]) -> str:
    """How many of the rules that apply were met: `8 of 9 rules met, 1 skipped`."""
    statuses = [row.status for row in rows]
    skipped = statuses.count("SKIP")
    after = f", {skipped} skipped" if skipped else ""
    return f"{share(rows)} rules met{after}"


def share(rows: Sequence[VerdictRow]) -> str:
    """As `met`, shorter: `8 of 9`."""
    statuses = [row.status for row in rows]
    return f"{statuses.count('PASS')} of {len(statuses) - statuses.count('SKIP')}"


def in_short(missed: Sequence[str]) -> str:
    """The first missed rule, and the number of further ones."""
    more = [f"and {len(missed) - _MOST_NAMED} more"]
    return ", ".join([*missed[:_MOST_NAMED], *more[: len(missed) > _MOST_NAMED]])
