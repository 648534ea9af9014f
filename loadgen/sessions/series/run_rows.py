"""The runs of a series as rows in plain types, and the result of each in a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from reporter.cache_hits import ALIKE_PCT, REMEDY, cached_pct
from reporter.findings.acceptance import IN_WORDS
from reporter.render.score_tables import titled, value_in_words
from reporter.run_row import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome
    from reporter.report import Finding, Report
    from reporter.values.task_score import TaskScore
    from rulesets.verdict import Verdict


@dataclass(frozen=True, slots=True)
class HeadlineScore:
    """The headline score of a run in one benchmark, by one scorer.

    Attributes:
        name: The benchmark, with its scorer where that is not its own: `math500, math_verify`.
        figure: What the benchmark calls it, e.g. `accuracy`.
        value: The score; with `unscored` samples a lower bound. None where nothing is scored.
        unit: `share` from 0 to 1, or that of the benchmark.
        low: The lower end of its 95 % interval.
        high: The upper end.
        n: Samples that were asked.
        unscored: Those of them without a score.
    """

    name: str
    figure: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    n: int
    unscored: int


def scores_of(report: Report) -> list[HeadlineScore]:
    """The headline score of each benchmark that a run asked, and scorer."""
    return [_score(of) for of in report.accuracy]


def scores_in_words(report: Report) -> str:
    """The headline scores of a run in one cell: `75.00 %`, or with names if several."""
    scores = scores_of(report)
    named = {score.name: value_in_words(score.value, score.unit) for score in scores}
    return ", ".join(
        named.values() if len(named) == 1 else (f"{name} {value}" for name, value in named.items())
    )


def _score(of: TaskScore) -> HeadlineScore:
    figure, headline = next(iter(of.headlines.items()))
    interval = headline.interval
    return HeadlineScore(
        name=titled(of),
        figure=figure,
        value=headline.value,
        unit=headline.unit,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=of.issued,
        unscored=of.unscored,
    )


_ACCEPTED: Final = "accepted"
"""Invalid because of the client, and accepted (`--on-invalid warn`)."""

_RESULTS: Final = {"PASS": "pass", "FAIL": "missed", "INVALID": "invalid", "INCONCLUSIVE": "unclear"}


def rows(outcomes: Sequence[PointOutcome], folder: Path) -> list[dict[str, Any]]:
    """One row per point, in plain types."""
    return [
        {
            "name": outcome.point.name,
            "folder": str(outcome.folder.relative_to(folder)),
            "axes": dict(outcome.point.axes),
            "exit_code": outcome.exit_code,
            "valid": outcome.report.validity.valid,
            "accepted": outcome.report.validity.accepted,
            "reasons": list(outcome.report.validity.reasons),
            "verdict": None if outcome.report.verdict is None else outcome.report.verdict.status,
            "warnings": warnings_of(outcome),
            "scores": [asdict(score) for score in scores_of(outcome.report)],
            **asdict(figures(outcome.report)),
        }
        for outcome in outcomes
    ]


def warnings_of(outcome: PointOutcome) -> list[str]:
    """The codes of the warnings of a point, with those of their effects."""
    return [
        code
        for finding in outcome.report.findings
        if finding.severity == "warning"
        for code in (finding.code, *finding.effects)
    ]


def result(outcome: PointOutcome) -> str:
    """The outcome of a point in a word or two; empty for a valid point without requirements."""
    report = outcome.report
    if not report.validity.stands:
        return report.validity.label.lower()
    if report.verdict is None:
        return _ACCEPTED if report.validity.accepted else ""
    return _RESULTS.get(report.verdict.status, "")


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
            f"Prompt tokens from the prefix cache: {shares[lowest]:.0f} % at {lowest}, "
            f"{shares[highest]:.0f} % at {highest}. The TTFTs of these points do not compare: {REMEDY}."
        )


def accepted_note(outcome: PointOutcome) -> Iterator[str]:
    """A note on an invalid run that is accepted, with the reasons; nothing for any other run."""
    validity = outcome.report.validity
    if validity.accepted:
        yield f"{outcome.folder.name}: INVALID, {IN_WORDS}: {'; '.join(validity.reasons)}"


def _missed(verdict: Verdict | None) -> list[str]:
    from reporter.render.rule_in_words import why

    counting = [row for row in verdict.rows if row.severity == "fail"] if verdict else []
    return [why(row)[0] for row in counting if row.status not in {"PASS", "SKIP"} and why(row)]
