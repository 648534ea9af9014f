"""The page of a run: the result, key figures and a plot; tables and distributions; the rest folded."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.breakdown import STAGE
from reporter.contents import finding_statements, metric_statements
from reporter.contents.intervals import intervals
from reporter.contents.run_contents import RunContents
from reporter.costs import cost_sql
from reporter.findings.acceptance import IN_WORDS
from reporter.render import (
    breakdown_tables,
    cost_lines,
    episode_tables,
    health_lines,
    imported_figures,
    latency,
    node_table,
    rule_in_words,
    score_tables,
    section_tables,
    sensor_tables,
    session_tables,
    totals,
)
from reporter.render.console_page import clean, plain
from reporter.render.heading import heading
from reporter.render.html import page_writer, swim_lanes
from reporter.render.html.excerpts import failed, samples, slowest
from reporter.render.html.headline_cards import cards
from reporter.render.html.page import Page, Prose, Remark, Remarks, Tables
from reporter.render.html.run_plots import RunPlots
from reporter.render.named_verdict import met
from reporter.render.table import Mark, tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.episodes import Episodes
    from reporter.render.html.page import Section
    from reporter.render.table import Table
    from reporter.report import Report
    from reporter.values.report_section import ReportSection
    from reporter.values.session_figures import Sessions
    from rulesets.verdict import Verdict


def render(
    report: Report, *, contents: RunContents | None = None, command: str = "", repeat: str = ""
) -> str:
    """The report as one HTML file.

    Args:
        report: The report.
        contents: Further contents of the log; None if only the report is available.
        command: The command that makes the page again.
        repeat: The command that repeats the run.
    """
    return page_writer.write(replace(page_of(report, contents or RunContents(), command), command=repeat))


def page_of(report: Report, contents: RunContents, command: str = "") -> Page:
    """The page of a run as a value."""
    title, *lines = map(plain, heading(report))
    plots = RunPlots(contents, () if report.verdict is None else report.verdict.rows)
    details = tuple(_details(report, contents, plots))
    return Page(
        title=title,
        marks=result(report),
        lines=(*lines, plain(totals.requests(report))),
        sections=(*_sections(report, contents, plots), *details),
        footer=tuple(_footer(report, command)),
        variables=statements.variables(report, contents.windows),
        answer=clean(_opening(reason(report))),
        folded=frozenset(section.anchor for section in details),
    )


def _sections(report: Report, contents: RunContents, plots: RunPlots) -> Iterator[Section]:
    verdict = report.verdict
    if opening := cards(report, contents):
        yield opening
    yield from plots.opening()
    if report.accuracy:
        yield _accuracy(report)
    yield _findings(report)
    if report.sessions is not None:
        yield from _sessions(report.sessions, contents)
    if own := imported_figures.table(report):
        yield Tables("imported", f"Figures of {(report.run.imported or {}).get('format')}", (own,))
    if contents.samples is not None and contents.samples.samples:
        yield samples(contents.samples)
    if tables := tuple(_latencies(report)):
        yield Tables("latencies", "Latencies", tables)
    if verdict and verdict.rows:
        yield rules(verdict, metric_statements.rules(report))
    if report.episodes is not None:
        yield from _episodes(report.episodes, contents)
    for name, part in report.sections.items():
        yield _section(name, part)
    yield from plots.distributions()


def _details(report: Report, contents: RunContents, plots: RunPlots) -> Iterator[Section]:
    """The sections that a click opens."""
    yield from plots.over_time()
    if contents.requests:
        yield swim_lanes.requests(contents.requests, report.counts.completed + report.counts.failed)
    if contents.slowest:
        yield slowest(contents.slowest)
    if contents.failed:
        yield failed(contents.failed, report.counts.failed)
    if parts := tuple(_parts(report, contents)):
        yield Tables("parts", "Parts of the run", parts)
    if report.nodes is not None:
        sql = statements.nodes(report.run.percentile_method)
        yield Tables("nodes", "Nodes", (replace(node_table.table(report), sql=sql),))
    yield _client(report)
    yield from _telemetry(report)
    if report.cost is not None:
        lines = tuple(cost_lines.lines(asdict(report.cost)))
        yield Prose("cost", "Cost", lines, tuple(cost_sql(report)))
    if named := tuple(intervals(report)):
        paragraphs = tuple(how for _, how, _ in named)
        yield Prose("intervals", "Intervals", paragraphs, tuple((of, sql) for of, _, sql in named))


def _findings(report: Report) -> Remarks:
    messages = {finding.message for finding in report.findings}
    reasons = [
        Remark(Mark("error", "bad"), reason) for reason in report.validity.reasons if reason not in messages
    ]
    findings = [
        Remark(
            Mark(finding.severity, tone(finding.severity)),
            finding.message,
            finding.remedy,
            finding_statements.of_finding(finding, report),
        )
        for finding in report.findings
    ]
    return Remarks("findings", "Findings", (*reasons, *findings), "None.")


def rules(verdict: Verdict, sql: str = "") -> Tables:
    """A row for each rule, and why those that did not pass did not."""
    whys = [
        f"{rule_in_words.status(row)} {row.id}: {' '.join(why)}"
        for row, why in rule_in_words.whys(verdict.rows)
    ]
    return Tables("rules", "Rules", (rule_in_words.table(verdict.rows, sql),), tuple(whys))


def _accuracy(report: Report) -> Tables:
    tables = (score_tables.score_table(report.accuracy), *score_tables.group_tables(report))
    return Tables("accuracy", "Accuracy", tables, tuple(map(plain, score_tables.notes(report))))


def _episodes(of_run: Episodes, contents: RunContents) -> Iterator[Section]:
    if contents.sessions:
        yield swim_lanes.section(contents.sessions, of_run.count, "episode")
    kinds = (episode_tables.endings, episode_tables.figures, episode_tables.turns, episode_tables.tools)
    tables = tuple(table for kind in kinds if (table := kind(of_run)).rows)
    shares = ", ".join(episode_tables.shares(of_run))
    yield Tables("episodes", "Episodes", tables, (f"On average: {shares}.",) if shares else ())


def _sessions(of_run: Sessions, contents: RunContents) -> Iterator[Section]:
    if contents.sessions:
        yield swim_lanes.section(contents.sessions, of_run.count)
    lines = tuple(f"{line[0].upper()}{line[1:]}." for line in session_tables.lines(of_run))
    yield Tables("sessions", "Sessions", tuple(session_tables.all_tables(of_run)), lines)


def _section(name: str, part: ReportSection) -> Section:
    tables = section_tables.tables(part)
    lines = tuple(f"{line}." for line in part.lines)
    queries = ((part.title, part.sql),) if part.sql else ()
    return Tables(name, part.title, tables, lines) if tables else Prose(name, part.title, lines, queries)


def _latencies(report: Report) -> Iterator[Table]:
    server, client = latency.groups(report, verbose=False, client=True)
    for rows in ([*server, *client], latency.SPEED):
        if table := latency.table(report, rows):
            shown = [(line.metric, line.label) for line in rows if getattr(report, line.metric) is not None]
            yield replace(table, sql=statements.latencies(report, shown))


def _parts(report: Report, contents: RunContents) -> Iterator[Table]:
    for name in report.breakdown:
        sql = contents.stages if name == STAGE else statements.parts(report, name)
        yield breakdown_tables.parts(report, name, sql)


def _client(report: Report) -> Prose:
    readings = health_lines.in_words(report)
    lines = [f"{label}: {', '.join(map(plain, parts))}." for label, parts in readings.items()]
    return Prose(
        "client",
        "Client overhead",
        tuple(lines) or ("The log has no readings of the client.",),
        statements.overhead(report) if lines else (),
    )


def _telemetry(report: Report) -> Iterator[Section]:
    side, energy = report.server_side, report.energy
    if side is not None and side.readings:
        compared = (sensor_tables.compared(side),) if side.compared else ()
        went = f"{sensor_tables.server(side)}: {', '.join(sensor_tables.gauges(side))}."
        yield Tables("server", "Server and client", compared, (plain(went), _BOTH))
    if report.cache_hits is not None:
        line = plain(totals.cache_hits(report.cache_hits))
        yield Prose("cache-hits", "Cache hits", (f"{line}.",), (("By usage", statements.CACHE_HITS),))
    if energy is not None:
        lines = tuple(f"{line[:1].upper()}{line[1:]}." for line in sensor_tables.energy_lines(energy))
        yield Prose("energy", "Energy", tuple(map(plain, lines)), (("Energy", statements.figures("energy")),))
        if (of_requests := sensor_tables.per_request(energy)).rows:
            note = "Of measured requests that completed."
            yield Tables("request-energy", "Energy of requests", (of_requests,), (note,))


_BOTH: Final = (
    "Both sides are over all requests from the first reading of the server's metrics to the last one, "
    "warm-up included. A percentile of the server's lies between the ends of a bucket of its histogram."
)


def _footer(report: Report, command: str) -> Iterator[str]:
    yield f"Session {report.run.session_id}. Every figure is computed from the run's log."
    if command:
        yield f"Make this page again: {command}"
    yield 'Run a query of this page: loadgen sql RUN "QUERY"'


def result(report: Report) -> tuple[Mark, ...]:
    """The fault of the run or the verdict first; `valid` alone where no rule was set."""
    validity, verdict = report.validity, report.verdict
    errors = any(finding.severity == "error" for finding in report.findings)
    # A run in progress is not valid, but need not have an error either.
    judged = (report.run.ended != "running" or errors) and (verdict is None or not validity.valid)
    marks = [_validity(report)] if judged or validity.accepted else []
    if ended := totals.ended(report):
        marks.append(Mark(ended, "doubt"))
    if verdict is not None and (validity.stands or verdict.status != "INVALID"):
        marks.append(Mark(verdict.status, tone(verdict.status)))
    return tuple(sorted(marks, key=lambda mark: mark.tone == "dim"))


def reason(report: Report) -> str:
    """The reason for the result: why the run is invalid, the first missed rule, or the rules met."""
    validity, verdict = report.validity, report.verdict
    if not validity.valid:
        return validity.summary or (validity.reasons[0] if validity.reasons else "")
    rows = () if verdict is None else verdict.rows
    missed = [row for row in rows if row.severity == "fail" and row.status not in {"PASS", "SKIP"}]
    if missed:
        return "; ".join([missed[0].reason, *([f"and {len(missed) - 1} more"] if len(missed) > 1 else [])])
    if validity.summary:
        return validity.summary
    return "No target was set (--require)." if verdict is None else met(verdict.rows)


_SENTENCE_END: Final = re.compile(r"(?<=[a-z%)]\.) (?=[A-Z])")
_ONE_REASON: Final = 160
"""How many characters of a reason the page opens with."""


def _opening(text: str) -> str:
    """The first sentences of a reason; findings have all."""
    first, *others = _SENTENCE_END.split(text)
    while others and len(first) + len(others[0]) < _ONE_REASON:
        first += f" {others.pop(0)}"
    return f"{first} More under Findings." if others else first


def _validity(report: Report) -> Mark:
    if report.validity.accepted:
        return Mark(f"{report.validity.label}, {IN_WORDS}", "doubt")
    return Mark("valid", "dim") if report.validity.valid else Mark(report.validity.label, "bad")
