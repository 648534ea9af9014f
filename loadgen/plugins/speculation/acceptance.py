"""The acceptance of draft tokens in a report: by request and by the server's counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.findings.token_findings import SEVERAL_PER_CHUNK
from reporter.log.database import rows_of
from reporter.log.sql_files import value_of_tag
from reporter.log.subjects import has_sensors
from reporter.number_text import counted, figure, fixed, percent, whole
from reporter.report import Finding
from reporter.values.report_section import ReportSection, SectionTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.log.database import OpenLog
    from reporter.report import Report

    Row = Mapping[str, Any]

OF_REQUESTS: Final = """\
SELECT count(*) AS requests, sum(steps)::BIGINT AS steps, sum(drafted)::BIGINT AS drafted,
    sum(accepted)::BIGINT AS accepted, 1 + sum(accepted) / nullif(sum(steps), 0) AS acceptance_length,
    avg(acceptance_length) AS mean_of_requests, sum(accepted) / nullif(sum(drafted), 0) AS acceptance_rate,
    (sum(accepted) + sum(steps)) / nullif(sum(drafted) + sum(steps), 0) AS verified_rate,
    string_agg(DISTINCT source, ', ' ORDER BY source) AS sources, max(draft_length) AS draft_length,
    count(*) FILTER (contradictions <> '') AS contradicting,
    any_value(contradictions) FILTER (contradictions <> '') AS contradiction
FROM speculation
WHERE counts"""

POSITIONS: Final = """\
SELECT position, sum(coalesce(list_sum(histogram[position + 1:]), 0)) / sum(steps) AS acceptance_rate
FROM speculation, range(1, (SELECT max(len(histogram)) FROM speculation)) AS positions(position)
WHERE counts AND histogram IS NOT NULL
GROUP BY position
ORDER BY position"""

_PARTS: Final = """\
SELECT {part} AS part, count(*) AS requests, 1 + sum(accepted) / nullif(sum(steps), 0) AS acceptance_length,
    sum(accepted) / nullif(sum(drafted), 0) AS acceptance_rate
FROM {rows}
WHERE counts AND {part} IS NOT NULL
GROUP BY part
ORDER BY part"""

CONTEXTS: Final = _PARTS.format(
    part="(2 ** floor(log2(greatest(input_tokens, 1))))::BIGINT", rows="speculation"
)

TAG_NAMES: Final = """\
SELECT tag, count(DISTINCT json_value(tags, tag)) AS count
FROM (SELECT tags, unnest(json_keys(tags)) AS tag FROM samples WHERE measured)
GROUP BY tag
ORDER BY tag"""

OF_SERVER: Final = """\
SELECT sum(steps)::BIGINT AS steps, sum(drafted)::BIGINT AS drafted, sum(accepted)::BIGINT AS accepted,
    1 + sum(accepted) / nullif(sum(steps), 0) AS acceptance_length,
    avg(acceptance_length_gauge) AS gauge,
    sum(accepted) / nullif(sum(drafted), 0) AS acceptance_rate
FROM speculation_counters"""

SERVER_POSITIONS: Final = """\
SELECT position, sum(by_position[position]) / sum(steps) AS acceptance_rate
FROM speculation_counters,
    range(1, (SELECT max(len(by_position)) + 1 FROM speculation_counters)) AS positions(position)
GROUP BY position
ORDER BY position"""

BOTH_POSITIONS: Final = f"""\
SELECT * FROM ({POSITIONS})
FULL JOIN (SELECT position, acceptance_rate AS of_server FROM ({SERVER_POSITIONS})) USING (position)
ORDER BY position"""  # noqa: S608 (queries of this program)

ALL_STATED: Final = """\
SELECT sum(steps)::BIGINT AS steps, sum(accepted)::BIGINT AS accepted,
    count(*) = (SELECT count(*) FROM requests WHERE sent_ns IS NOT NULL) AS of_all
FROM speculation"""

MOST_VALUES: Final = 20
"""A tag with more values has no table."""

_LEAST_PER_CHUNK: Final = 1.05


def section(log: OpenLog, report: Report) -> tuple[ReportSection, list[Finding]]:
    """The section, and findings on identities that do not hold and on ITL."""
    (own,) = rows_of(log.execute(OF_REQUESTS))
    server: Row = {}
    if has_sensors(log):
        log.load(("speculation_counters",))
        (server,) = rows_of(log.execute(OF_SERVER))
    length, rate = _length(own, server), own["acceptance_rate"]
    figures = {
        "acceptance_length": length,
        "acceptance_rate": server.get("acceptance_rate") if rate is None else rate,
        "verified_rate": own["verified_rate"],
        "mean_acceptance_length_of_requests": own["mean_of_requests"],
        "requests": own["requests"],
        "steps": own["steps"] if own["steps"] is not None else server.get("steps"),
        "drafted_tokens": own["drafted"] if own["drafted"] is not None else server.get("drafted"),
        "accepted_tokens": own["accepted"] if own["accepted"] is not None else server.get("accepted"),
        "draft_length": own["draft_length"],
        "server_acceptance_length": _of_counters(server),
        "server_acceptance_rate": server.get("acceptance_rate"),
    }
    tables = [table for table in _tables(log, has_counters=bool(server)) if table.rows]
    part = ReportSection("Speculation", list(_lines(own, server)), tables, figures, OF_REQUESTS)
    return part, [*_contradictions(own), *_apart(log, server), *_itl(report, length)]


def _length(own: Row, server: Row) -> float | None:
    """The acceptance length: of the measured requests, where they state it, else by the server's counters."""
    stated: float | None = own["acceptance_length"]
    return _of_counters(server) if stated is None else stated


def _of_counters(server: Row) -> float | None:
    """The server's own acceptance length: by its counters, else its gauge."""
    counted_length: float | None = server.get("acceptance_length")
    return server.get("gauge") if counted_length is None else counted_length


def _lines(own: Row, server: Row) -> Iterator[str]:
    if own["requests"]:
        yield _statement(own, f"by {counted(own['requests'], 'measured request')} ({own['sources']})")
        if own["mean_of_requests"] is not None:
            yield f"mean acceptance length of requests {fixed(own['mean_of_requests'], 3)}"
    if _of_counters(server) is not None or server.get("accepted"):
        shown = {**server, "acceptance_length": _of_counters(server)}
        yield _statement(shown, "by the server's counters, of all requests, warm-up included")


def _statement(counts: Row, source: str) -> str:
    length, rate = counts["acceptance_length"], counts["acceptance_rate"]
    parts = [] if length is None else [f"acceptance length {fixed(length, 3)}"]
    if rate is not None:
        counts_of = f"{whole(counts['accepted'])} of {whole(counts['drafted'])}"
        parts.append(f"{percent(rate, 1)} of the draft tokens accepted ({counts_of})")
    return f"{', '.join(parts)}, {source}"


def _tables(log: OpenLog, *, has_counters: bool) -> Iterator[SectionTable]:
    query = BOTH_POSITIONS if has_counters else POSITIONS
    rows: list[list[Any]] = [[str(row.pop("position")), *row.values()] for row in rows_of(log.execute(query))]
    yield SectionTable(["Position in the draft", *_BY_SOURCE[: 1 + has_counters]], rows, query)
    contexts = [
        [f"{row['part']:,} to {2 * row['part'] - 1:,}", *_figures(row)]
        for row in rows_of(log.execute(CONTEXTS))
    ]
    yield SectionTable(["Input tokens", *_TITLES], contexts, CONTEXTS)
    for tag, count in log.execute(TAG_NAMES).fetchall():
        if count <= MOST_VALUES:
            of_tag = _PARTS.format(
                part=value_of_tag(tag), rows="speculation JOIN samples USING (sample_uuid)"
            )
            yield SectionTable(
                [f"Tag {tag}", *_TITLES],
                [[row["part"], *_figures(row)] for row in rows_of(log.execute(of_tag))],
                of_tag,
            )


_BY_SOURCE: Final = ("acceptance rate by responses", "by counters")
_TITLES: Final = ("requests", "acceptance length", "acceptance rate")


def _figures(row: Row) -> list[Any]:
    return [row["requests"], row["acceptance_length"], row["acceptance_rate"]]


def _contradictions(own: Row) -> Iterator[Finding]:
    if own["contradicting"]:
        yield Finding(
            "speculation_contradicts",
            "warning",
            f"{counted(own['contradicting'], 'response')} state counts of draft tokens that contradict each "
            f"other, such as {own['contradiction']}.",
            "The server's counts are wrong, or change in a gateway: compare its metrics page "
            "(--server-metrics).",
        )


def _apart(log: OpenLog, server: Row) -> Iterator[Finding]:
    """The responses of all requests, and the counters of the same time, that disagree."""
    if server.get("steps") is None:
        return
    (stated,) = rows_of(log.execute(ALL_STATED))
    same = (stated["steps"], stated["accepted"]) == (server["steps"], server["accepted"])
    if stated["of_all"] and stated["steps"] is not None and not same:
        yield Finding(
            "speculation_counters_differ",
            "warning",
            f"The responses state {whole(stated['accepted'])} accepted tokens in "
            f"{counted(stated['steps'], 'step')}, the server's counters {whole(server['accepted'])} in "
            f"{whole(server['steps'])}.",
            "Does the server have other clients, or did requests end early?",
        )


def _itl(report: Report, length: float | None) -> Iterator[Finding]:
    """The gaps between chunks are those of steps, not of tokens."""
    tokens = report.tokens
    if report.itl_ms is None or length is None or not tokens.chunks or not tokens.output:
        return
    # With more, the finding on several tokens per chunk says it of any server.
    if not _LEAST_PER_CHUNK <= (per_chunk := tokens.output / tokens.chunks) < SEVERAL_PER_CHUNK:
        return
    yield Finding(
        "itl_of_steps",
        "info",
        f"A chunk has the {figure(per_chunk)} tokens of a step of speculative decoding, so ITL is the time "
        "of a step.",
        "Use TPOT for the time of a token.",
    )
