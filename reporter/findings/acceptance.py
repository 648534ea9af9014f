"""Which errors a user can accept with `--on-invalid warn`: what the client or its machine did to the figures.

Its own delay, an event loop that ran late, a CPU that was used up and a rate that was not held change how
exact the figures are, by an amount that the report states; a reader can weigh that. No other error can be
accepted: a run that was cut off, interrupted or ended early, that lost a worker, issued or completed nothing,
failed requests itself, spent its error budget, or broke a law of the log, lacks the figures themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.findings.client_limits import ACCEPTABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.evidence import Check
    from reporter.report import Finding, Validity
    from reporter.run_facts import OnInvalid


IN_WORDS: Final = "accepted (--on-invalid warn)"
HINT: Final = "`--on-invalid warn` accepts such a run."


def marked(check: Check, finding: Finding) -> Finding:
    """A finding with whether it can be accepted, and with how, if it is an error that can."""
    if finding.severity != "error" or check not in ACCEPTABLE:
        return finding
    return replace(finding, acceptable=True, remedy=f"{finding.remedy} {HINT}".lstrip())


def accepted(validity: Validity, found: Iterable[Finding], on_invalid: OnInvalid) -> Validity:
    """The validity with whether it is accepted: every reason must be an error that can be.

    Args:
        validity: From `reporter.findings.findings.validity`.
        found: The findings that it was made of.
        on_invalid: What the user chose.
    """
    reasons = {finding.message for finding in found if finding.acceptable}
    if on_invalid == "fail" or validity.valid or not reasons.issuperset(validity.reasons):
        return validity
    return replace(validity, accepted=True)
