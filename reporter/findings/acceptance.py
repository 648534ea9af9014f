"""The errors that a scored run does not have, and those that a user can accept with `--on-invalid warn`.

Scores do not depend on when the client sent and read: where nothing asks for latencies or rates, errors of
a late client are warnings that these are not valid.

Client overhead, a late event loop, a busy CPU and a rate that was not held change the precision of the
figures, by an amount that the report states; an overload may be what was to be measured. No other error can
be accepted: a run that was cut off, interrupted or ended early, that lost a worker, issued or completed
nothing, failed requests itself, spent its error budget, or broke a law of the log, lacks the figures
themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.findings import client_limits, load_findings
from reporter.findings.client_limits import LIMITED
from rulesets.evaluators.client_delay import LATENCIES_INVALID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.report import Finding, Validity
    from reporter.run_facts import OnInvalid

ACCEPTABLE: Final[frozenset[Check]] = client_limits.ACCEPTABLE.union(load_findings.OVERLOAD)
"""The checks whose errors a user can accept."""

SCORES_STAND: Final = "Scores stand, but latencies and rates are not valid."
IN_WORDS: Final = "accepted (--on-invalid warn)"
HINT: Final = "`--on-invalid warn` accepts such a run."


def marked(check: Check, finding: Finding, evidence: CheckInputs) -> Finding:
    """A finding: a warning if scores do not depend on it; with the hint if it is an error to accept."""
    if finding.severity != "error" or check not in ACCEPTABLE:
        return finding
    if evidence.has_questions and not evidence.asks_times and check in client_limits.ACCEPTABLE:
        message = f"{finding.message.removesuffix('.')}. {SCORES_STAND}"
        return replace(finding, code=LATENCIES_INVALID, severity="warning", message=message)
    return replace(finding, acceptable=True, remedy=f"{finding.remedy} {HINT}".lstrip())


def accepted(validity: Validity, findings: Iterable[Finding], on_invalid: OnInvalid) -> Validity:
    """The validity with whether it is accepted: every reason must be an error that can be."""
    reasons = {finding.message for finding in findings if finding.acceptable}
    if on_invalid == "fail" or validity.valid or not reasons.issuperset(validity.reasons):
        return validity
    return replace(validity, accepted=True)


def one_for_one_cause(findings: Iterable[Finding], remedy: str) -> list[Finding]:
    """Join the findings that begin with the same remedy to the most severe of them.

    The message has the sentences of all, in their order; `effects` has the codes of the others. In a scored
    run whose latencies do not decide, invalid latencies are the most severe.

    Args:
        findings: Findings, causes before effects.
        remedy: The remedy that relieves the client.
    """
    each = list(findings)
    alike = [finding for finding in each if finding.remedy.startswith(remedy)]
    if not alike:
        return each
    gravest = (
        finding for finding in alike if finding.severity == "error" or finding.code == LATENCIES_INVALID
    )
    lead = next(gravest, alike[0])
    sentences = ["The client limited the run."] if lead.code == LIMITED else []
    sentences += [finding.message.removesuffix(SCORES_STAND).rstrip() for finding in alike]
    sentences += [SCORES_STAND] if lead.code == LATENCIES_INVALID else []
    joined = replace(
        lead,
        message=" ".join(sentences),
        effects=list(dict.fromkeys(finding.code for finding in alike if finding.code != lead.code)),
    )
    first = each.index(alike[0])
    rest = [finding for finding in each if finding not in alike]
    return [*rest[:first], joined, *rest[first:]]
