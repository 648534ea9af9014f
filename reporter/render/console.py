"""The console report at a glance: validity, verdict, failed rules, and figures."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.findings.acceptance import IN_WORDS
from reporter.number_text import whole
from reporter.render import (
    accuracy,
    breakdown,
    cost,
    episodes,
    health,
    imported,
    latency,
    nodes,
    telemetry,
    totals,
    verdict,
)
from reporter.render.heading import heading
from reporter.render.named_run import naming
from reporter.render.page import block, draw, sentence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.report import Finding, Report, Validity

_SEVERITY_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "info": "dim"}
_NO_LATENCY: Final = Text("No latency figures: no request completed.", style="bold red")


def render(
    report: Report,
    *,
    width: int = 100,
    color: bool = False,
    summary_only: bool = False,
    verbose: bool = False,
    by: Sequence[str] = (),
    run: object = None,
) -> str:
    """The report as lines of text.

    Args:
        report: The report.
        width: Columns of the page; at least 40.
        color: Whether to use ANSI colors; without them the text is plain.
        summary_only: Only what the run was, whether it is valid, counts, throughput, and three latencies.
        verbose: Every metric, min and std, and all that the client reports of itself; else that is one line,
            unless something about the client needs a look.
        by: What to break the figures down by: some of `breakdown.names`.
        run: The place of the run, for the commands of remedies.
    """
    report = report if run is None else naming(report, str(run))
    whole_page = _summary(report, width) if summary_only else _whole(report, width, verbose=verbose)
    tables = (breakdown.section(report, name, width=width) for name in by)
    return draw(chain(whole_page, tables), width=width, color=color)


def _summary(report: Report, width: int) -> Iterator[Sequence[RenderableType]]:
    yield heading(report)
    yield list(_head(report))
    yield accuracy.section(report, width=width, summary_only=True)
    yield list(_cost(report))
    yield from _latency(report, latency.SHORT, width=width)


def _whole(report: Report, width: int, *, verbose: bool) -> Iterator[Sequence[RenderableType]]:
    yield heading(report)
    yield list(_head(report))
    yield accuracy.section(report, width=width)
    yield list(_cost(report))
    in_full = verbose or health.needs_a_look(report)
    groups = latency.groups(report, verbose=verbose, client=in_full)
    yield from _latency(report, *groups, width=width, verbose=verbose)
    if verbose and (speeds := latency.table(report, latency.SPEED, width=width, verbose=True)):
        yield [speeds]
    yield episodes.section(report, width=width)
    yield nodes.section(report.nodes, width=width)
    yield from telemetry.sections(report, width=width)
    yield list(health.in_full(report) if in_full else health.in_short(report))
    yield [_finding(finding) for finding in report.findings if finding.severity != "error"]
    if report.verdict:
        yield from verdict.sections(report.verdict, width=width)


def _head(report: Report) -> Iterator[RenderableType]:
    """The result with reasons for invalidity, then the totals of the run."""
    errors = [finding for finding in report.findings if finding.severity == "error"]
    messages = {finding.message for finding in report.findings}
    others = (text(reason) for reason in report.validity.reasons if reason not in messages)
    yield block("Result", _result(report), *others)
    yield from map(_finding, errors)
    yield block("Requests", totals.requests(report))
    if report.counts.by_error:
        yield block("Errors", *_errors(report))
    yield block("Throughput", totals.throughput(report))
    if (in_flight := totals.concurrency(report)) is not None:
        yield block("Concurrency", in_flight)
    if counted_tokens := totals.tokens(report):
        yield block("Tokens", counted_tokens)
    if report.steady_state and report.steady_state.found:
        yield block("Steady state", totals.steady_state(report.steady_state))


def _result(report: Report) -> Text:
    validity = report.validity
    errors = [finding for finding in report.findings if finding.severity == "error"]
    # A run in progress is not valid, but need not have an error either.
    judged = report.run.ended != "running" or errors
    return sentence(
        _validity(validity) if judged else "",
        text(totals.ended(report), "bold yellow"),
        verdict.headline(report.verdict) if report.verdict else "",
        validity.summary,
        separator="   ",
    )


def _validity(validity: Validity) -> Text:
    if validity.accepted:
        return text(f"{validity.label}, {IN_WORDS}", "bold yellow")
    return text(validity.label, "bold green" if validity.valid else "bold red")


def _errors(report: Report) -> Iterator[Text]:
    by_count = sorted(report.counts.by_error.items(), key=lambda item: (-item[1], item[0]))
    room = len(whole(by_count[0][1]))
    for name, count in by_count:
        yield sentence(Text(f"{whole(count):>{room}}"), text(name), separator="  ")


def _cost(report: Report) -> Iterator[RenderableType]:
    if report.cost is not None:
        yield block("Cost", *map(text, cost.lines(asdict(report.cost))))


def _latency(
    report: Report, *groups: Sequence[latency.LatencyRow], width: int, verbose: bool = False
) -> Iterator[Sequence[RenderableType]]:
    if report.latency_ms is None and report.run.imported is None:
        yield [_NO_LATENCY]
    yield imported.section(report, width=width)
    if table := latency.table(report, *groups, width=width, verbose=verbose):
        yield [table]


def _finding(finding: Finding) -> RenderableType:
    label = Text(finding.severity.capitalize(), style=_SEVERITY_STYLES[finding.severity])
    remedy = [text(finding.remedy)] if finding.remedy else []
    return block(label, text(finding.message), *remedy)
