"""The console report at a glance: validity, verdict, failed rules, and figures."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.findings.acceptance import IN_WORDS
from reporter.number_text import whole
from reporter.render import health_lines, latency, totals, verdict_section
from reporter.render.console_page import block, draw, sentence, styled, tables, text
from reporter.render.heading import heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from reporter.report import Finding, Report, Validity

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
    parts = (_parts(report, name, width) for name in by)
    return draw(chain(whole_page, parts), width=width, color=color)


def _summary(report: Report, width: int) -> Iterator[Sequence[RenderableType]]:
    yield heading(report)
    yield list(_head(report))
    yield from _further(report, width, summary_only=True)
    yield from _latency(report, latency.SHORT, width=width)


def _whole(report: Report, width: int, *, verbose: bool) -> Iterator[Sequence[RenderableType]]:
    yield heading(report)
    yield list(_head(report))
    yield from _further(report, width)
    in_full = verbose or health_lines.needs_a_look(report)
    groups = latency.groups(report, verbose=verbose, client=in_full)
    yield from _latency(report, *groups, width=width, verbose=verbose)
    if verbose and (speeds := latency.table(report, latency.SPEED, verbose=True)):
        yield tables(speeds, width=width)
    yield from _of_other_sources(report, width)
    yield list(health_lines.in_full(report) if in_full else health_lines.in_short(report))
    yield [_finding(finding) for finding in report.findings if finding.severity != "error"]
    if report.verdict:
        yield from verdict_section.sections(report.verdict, width=width)


def _head(report: Report) -> Iterator[RenderableType]:
    """The result with reasons for invalidity, then the totals of the run."""
    errors = [finding for finding in report.findings if finding.severity == "error"]
    messages = {finding.message for finding in report.findings}
    others = (text(reason) for reason in report.validity.reasons if reason not in messages)
    yield block("Result", _result(report), *others)
    yield from map(_finding, errors)
    yield block("Requests", totals.requests(report))
    if report.sessions is not None:
        from reporter.render import session_tables

        yield session_tables.summary(report.sessions)
    if report.counts.by_error:
        yield block("Errors", *_errors(report))
    yield block("Throughput", totals.throughput(report))
    if (in_flight := totals.concurrency(report)) is not None:
        yield block("Concurrency", in_flight)
    if counted_tokens := totals.tokens(report):
        yield block("Tokens", counted_tokens)
    if report.cache_hits is not None:
        yield block("Cache hits", totals.cache_hits(report.cache_hits))
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
        verdict_section.headline(report.verdict) if report.verdict else "",
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


def _parts(report: Report, name: str, width: int) -> Sequence[RenderableType]:
    from reporter.render import breakdown_tables

    return breakdown_tables.section(report, name, width=width)


def _further(report: Report, width: int, *, summary_only: bool = False) -> Iterator[Sequence[RenderableType]]:
    """Scores and costs; their modules are loaded for runs that have them."""
    if report.accuracy:
        from reporter.render import score_tables

        yield score_tables.section(report, width=width, summary_only=summary_only)
    if report.cost is not None:
        from reporter.render import cost_lines

        yield [block("Cost", *map(text, cost_lines.lines(asdict(report.cost))))]


def _of_other_sources(report: Report, width: int) -> Iterator[Sequence[RenderableType]]:
    """Sessions, episodes, nodes and sensors; their modules are loaded for runs that have them."""
    if report.sessions is not None:
        from reporter.render import session_tables

        yield from session_tables.sections(report.sessions, width=width)
    if report.episodes is not None:
        from reporter.render import episode_tables

        yield list(episode_tables.section(report.episodes, width=width))
    if report.nodes is not None:
        from reporter.render import node_table

        yield node_table.section(report, width=width)
    if report.server_side is not None or report.energy is not None:
        from reporter.render import sensor_tables

        yield from sensor_tables.sections(report, width=width)
    if report.sections:
        from reporter.render import section_tables

        yield from (section_tables.on_console(part, width=width) for part in report.sections.values())


def _latency(
    report: Report, *groups: Sequence[latency.LatencyRow], width: int, verbose: bool = False
) -> Iterator[Sequence[RenderableType]]:
    if report.latency_ms is None and report.run.imported is None:
        yield [_NO_LATENCY]
    if report.run.imported is not None:
        from reporter.render import imported_figures

        if (of_others := imported_figures.table(report)) is not None:
            yield tables(of_others, width=width)
    if (table := latency.table(report, *groups, verbose=verbose)) is not None:
        yield tables(table, width=width)


def _finding(finding: Finding) -> RenderableType:
    label = styled(finding.severity, finding.severity.capitalize())
    remedy = [text(finding.remedy)] if finding.remedy else []
    return block(label, text(finding.message), *remedy)


_COMMAND: Final = re.compile(r"(loadgen [a-z]+) RUN\b")


def naming(report: Report, run: str) -> Report:
    """A report whose remedies have the run in the place of `RUN`."""
    named = shlex.quote(run)
    findings = [
        replace(finding, remedy=_COMMAND.sub(lambda command: f"{command[1]} {named}", finding.remedy))
        for finding in report.findings
    ]
    return replace(report, findings=findings)
