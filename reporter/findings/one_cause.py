"""One finding for one cause: a client that is short of CPU has many effects, and they share a remedy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.findings.acceptance import SCORES_STAND
from reporter.findings.client_limits import LIMITED
from rulesets.evaluators.client_delay import LATENCIES_INVALID

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.report import Finding


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
