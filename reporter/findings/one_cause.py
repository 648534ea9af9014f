"""One finding for one cause: a client that is short of CPU has many effects, and they share a remedy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.findings.client_limits import LIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.report import Finding


def one_for_one_cause(findings: Iterable[Finding], remedy: str) -> list[Finding]:
    """Join the findings that begin with the same remedy to the most severe of them.

    Its message has the sentences of all of them, in their order; `effects` has the codes of the others.

    Args:
        findings: Findings, causes before effects.
        remedy: The remedy that relieves the client.
    """
    each = list(findings)
    alike = [finding for finding in each if finding.remedy.startswith(remedy)]
    if not alike:
        return each
    lead = next((finding for finding in alike if finding.severity == "error"), alike[0])
    sentences = ["The client limited the run."] if lead.code == LIMITED else []
    joined = replace(
        lead,
        message=" ".join([*sentences, *(finding.message for finding in alike)]),
        effects=list(dict.fromkeys(finding.code for finding in alike if finding.code != lead.code)),
    )
    first = each.index(alike[0])
    rest = [finding for finding in each if finding not in alike]
    return [*rest[:first], joined, *rest[first:]]
