"""Rates over the defined window, also for a part of the requests, and over parts of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.imported import has_starts
from reporter.log.sql_files import condition
from reporter.measured.timeline import FINEST, group_size, grouped, merged_size, windows
from reporter.windows.rate_window import rates as rates_sql
from rulesets.evidence import Rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Report
    from rulesets.evidence import Where

RATES: Final = ("qps", "output_tps", "total_tps")

# The tokens of an answer are taken to arrive evenly from its first to its last one. What came before the
# window is in blocks below 0, so their numbers are rounded down: DuckDB's // would round them to 0.
_IN_BLOCKS: Final = """
    WITH answers AS (
        SELECT
            {first} AS first,
            {last} AS last,
            floor({ended} / $width)::BIGINT AS ended_block,
            floor(first / $width)::BIGINT AS first_block,
            floor(last / $width)::BIGINT AS last_block,
            status = 'completed' AS completed,
            arrived_input AS input_tokens,
            arrived_output AS output_tokens
        FROM arriving
        WHERE measured AND window_start_ns IS NOT NULL AND {where}
    )

    SELECT block, coalesce(sum(completions), 0)::BIGINT, coalesce(sum(input), 0), coalesce(sum(output), 0)
    FROM (
        SELECT ended_block AS block, count(*) AS completions FROM answers WHERE completed GROUP BY block
        UNION ALL BY NAME
        SELECT first_block AS block, sum(input_tokens) AS input FROM answers GROUP BY block
        UNION ALL BY NAME
        SELECT last_block AS block, sum(output_tokens) AS output FROM answers
        WHERE first_block = last_block
        GROUP BY block
        UNION ALL BY NAME
        SELECT
            block,
            sum(
                output_tokens
                * (least(last, (block + 1) * $width) - greatest(first, block * $width)) / (last - first)
            ) AS output
        FROM (
            SELECT *, unnest(range(first_block, last_block + 1)) AS block FROM answers
            WHERE first_block < last_block
        )
        GROUP BY block
    )
    WHERE block BETWEEN 0 AND $last_block
    GROUP BY block"""


def rates(log: OpenLog, report: Report, where: Where) -> Mapping[str, Rate]:
    """Every rate of a part of the requests.

    Rates of a part are its completions and tokens over the whole window.
    """
    *part, n = log.execute(rates_sql(where=condition(where))).fetchall()[0]
    values: dict[str, float | None] = dict(zip(RATES, part, strict=True))
    if not where:
        values = {name: getattr(report.throughput, name) for name in RATES}
        n = report.counts.completed
    elif not report.window.duration_s:
        values = dict.fromkeys(RATES)
    if not has_starts(report.run.imported):
        return {name: Rate(value, n) for name, value in values.items()}
    width_ns, finest = _finest(log, where)
    done = [completed for completed, _, _ in finest]
    blocks = _rates_of(finest, width_ns, group_size(done) if finest else None)
    series = _rates_of(finest, width_ns, merged_size(done))
    return {
        name: Rate(value, n) if value is None else Rate(value, n, blocks.get(name, ()), series.get(name, ()))
        for name, value in values.items()
    }


def _finest(log: OpenLog, where: Where) -> tuple[int, list[tuple[int, float, float]]]:
    """How long the finest equal parts of the window are, and the completions and tokens of each."""
    line = windows(log)
    width_ns = line.length_ns // FINEST
    if not width_ns:
        return 0, []
    query = _IN_BLOCKS.format(
        ended=line.moment("ended_ns"),
        first=line.moment("coalesce(first_token_ns, ended_ns)"),
        last=line.moment("coalesce(last_token_ns, ended_ns)"),
        where=condition(where),
    )
    rows = log.execute(query, {"width": width_ns, "last_block": FINEST - 1}).fetchall()
    amounts = {block: (done, float(read), float(written)) for block, done, read, written in rows}
    return width_ns, [amounts.get(block, (0, 0.0, 0.0)) for block in range(FINEST)]


def _rates_of(
    finest: Sequence[tuple[int, float, float]], width_ns: int, size: int | None
) -> Mapping[str, tuple[float, ...]]:
    """The rates of parts of the window, each of several of the finest; none where there are too few."""
    if not finest or size is None:
        return {}
    seconds = size * width_ns / 1e9
    sums = [tuple(map(sum, zip(*spans, strict=True))) for spans in grouped(finest, size)]
    return {
        "qps": tuple(done / seconds for done, _, _ in sums),
        "output_tps": tuple(written / seconds for _, _, written in sums),
        "total_tps": tuple((read + written) / seconds for _, read, written in sums),
    }
