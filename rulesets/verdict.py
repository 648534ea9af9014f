"""The verdict on a run by a ruleset."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (read at runtime: a stored verdict is validated)
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, field
from rulesets.evaluators.rule_row import Status, VerdictRow
from rulesets.exit_codes import ExitCode
from rulesets.from_plain import from_plain

if TYPE_CHECKING:
    from collections.abc import Iterable


__all__ = ["EXIT_CODES", "Status", "Verdict", "VerdictRow", "exit_code", "whole"]

EXIT_CODES: Final[Mapping[Status, ExitCode]] = {
    "INVALID": ExitCode.INVALID,
    "FAIL": ExitCode.FAIL,
    "INCONCLUSIVE": ExitCode.INCONCLUSIVE,
    "PASS": ExitCode.PASS,
}
"""The exit code of each status of a run, most severe first: an invalid run has neither passed nor failed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a run by a ruleset: `verdict` in report.json has these keys, in this order.

    Attributes:
        status: The most severe status among the rows of severity `fail`: `INVALID` when the run does not
            represent the server, else `FAIL`, else `INCONCLUSIVE`, else `PASS`. Where all of them were
            skipped, `INCONCLUSIVE`.
        model: The entry of the ruleset that it was resolved for; empty for a flat file.
        locked: Whether a file that extends the rules may only tighten them.
        overrides: What was changed in the rules, and what was left out on request: if not empty,
            they are not the rules of that name.
        notes: What the rules say of themselves.
        rows: One per rule: what makes a run valid first, then the targets in their order, then the rest.
        reasons: Why the report itself calls the run invalid; empty when it does not.
        accepted: Why the report calls the run invalid, where the user accepted that (`--on-invalid warn`) and
            the rules are not locked: then the rows decide the status.
    """

    status: Status
    ruleset: str
    version: str
    model: str = ""
    scenario: str = ""
    locked: bool = False
    overrides: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    definitions: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rows: tuple[VerdictRow, ...] = ()
    reasons: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The status, and a line for each reason: an invalid run, rules that did not pass."""
        missed = [f"{row.status}: {row.reason}" for row in self.rows if row.status not in {"PASS", "SKIP"}]
        return "\n".join([self.status, *self.reasons, *missed])

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Verdict:
        """The verdict of the values that `to_dict` gives.

        Raises:
            TypeError: A value has another type, or is unknown.
        """
        verdict: Verdict = from_plain(cls, plain)
        return verdict

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON-able values, for the report's `verdict` key."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        } | {
            "definitions": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.definitions.items()
            },
        }


def exit_code(verdict: Verdict) -> ExitCode:
    """Give the exit code of a verdict: 0 passed, 1 failed, 4 the run is invalid, 5 inconclusive."""
    return EXIT_CODES[verdict.status]


def whole(rows: Iterable[VerdictRow]) -> Status:
    """The status of several rows: the most severe of those that count."""
    all_rows = tuple(rows)
    counting = [row.status for row in all_rows if row.severity == "fail"] or [row.status for row in all_rows]
    if all(status == "SKIP" for status in counting):
        return "INCONCLUSIVE"
    present = {row.status for row in all_rows if row.severity == "fail"}
    return next((status for status in EXIT_CODES if status in present), "PASS")
