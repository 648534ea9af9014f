"""Notes on the runs of a series: reasons for invalidity, missed rules, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.series.run_rows import result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.report import Finding
    from rulesets.verdict import Verdict

_MOST_NAMED: Final = 4
"""Runs with the same warning that are named."""


def notes_of(outcomes: Sequence[PointOutcome]) -> Iterator[str]:
    """The reasons for invalidity and missed rules, one line each, then the warnings, one line per code."""
    yield from _cache_note(outcomes)
    for outcome in outcomes:
        validity = outcome.report.validity
        yield from accepted_note(outcome)
        why = (not validity.accepted and validity.reasons) or _missed(outcome.report.verdict)
        if why and result(outcome) != "pass":
            yield f"{outcome.folder.name}: {result(outcome)}: {'; '.join(map(str, why))}"
    yield from warning_notes(outcomes)


def warning_notes(outcomes: Sequence[PointOutcome]) -> Iterator[str]:
    """For each warning the runs that have it, with the message of the first of them."""
    having: dict[str, list[tuple[str, Finding]]] = {}
    for outcome in outcomes:
        for finding in outcome.report.findings:
            if finding.severity == "warning":
                having.setdefault(finding.code, []).append((outcome.folder.name, finding))
    for code, each in having.items():
        (first, finding), names = each[0], [name for name, _ in each]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        where = f"{code} in {', '.join(names[:_MOST_NAMED])}{more}"
        example = f" For example, {first}:" if len(names) > 1 else ""
        yield f"{where}:{example} {finding.message} {finding.remedy}".rstrip()


def _cache_note(outcomes: Sequence[PointOutcome]) -> Iterator[str]:
    """A note on points whose prompts were in the prefix cache to different shares."""
    from reporter.cache_hits import ALIKE_PCT, REMEDY, cached_pct

    shares = {}
    for outcome in outcomes:
        tokens, side = outcome.report.tokens, outcome.report.server_side
        share = cached_pct(tokens.cached, tokens.input, side and side.prefix_hit_pct)
        if share is not None:
            shares[outcome.folder.name] = share
    if not shares:
        return
    lowest, highest = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    if shares[highest] - shares[lowest] > ALIKE_PCT:
        yield (
            f"Prompt tokens from the prefix cache: {shares[lowest]:.0f}% at {lowest}, "
            f"{shares[highest]:.0f}% at {highest}. The TTFTs of these points do not compare: {REMEDY}."
        )


def accepted_note(outcome: PointOutcome) -> Iterator[str]:
    """A note on an invalid run that is accepted, with the reasons; nothing for any other run."""
    from reporter.findings.acceptance import IN_WORDS

    validity = outcome.report.validity
    if validity.accepted:
        yield f"{outcome.folder.name}: INVALID, {IN_WORDS}: {'; '.join(validity.reasons)}"


def _missed(verdict: Verdict | None) -> list[str]:
    from reporter.render.rule_in_words import why

    counting = [row for row in verdict.rows if row.severity == "fail"] if verdict else []
    return [why(row)[0] for row in counting if row.status not in {"PASS", "SKIP"} and why(row)]
