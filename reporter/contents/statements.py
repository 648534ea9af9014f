"""The SQL that has the figures of a report: for `loadgen sql RUN`, over the views of docs/sql.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.quantile import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from reporter.report import Report

MEASURED: Final = "measured AND status = 'completed'"
"""The requests that latencies are of."""

_RATES: Final = """\
SELECT
    count(*) FILTER (in_window) / any_value(duration_s) AS requests_per_s,
    sum(output_tokens) / any_value(duration_s) AS output_tokens_per_s,
    (sum(input_tokens) + sum(output_tokens)) / any_value(duration_s) AS total_tokens_per_s
FROM arrived, measured_window"""

_VALUES: Final = f"SELECT {{column}} AS ms FROM samples WHERE {MEASURED}"  # noqa: S608 (a column of this program's)

_BY_TOKEN: Final = f"""SELECT tpot_ms AS ms, unnest(range(tpot_tokens)) FROM samples WHERE {MEASURED}"""  # noqa: S608 (ours)

_GAPS: Final = f"SELECT gap_ms AS ms FROM chunks JOIN samples USING (sample_uuid) WHERE {MEASURED}"  # noqa: S608 (ours)

_ACCURACY: Final = """\
SELECT task, scorer, pass, avg(coalesce(value, 0)) AS mean, count(*) AS samples,
    count(*) FILTER (status = 'unparsed') AS unparsed, count(*) FILTER (status = 'missing') AS missing,
    count(*) FILTER (value IS NULL) AS unscored
FROM scores
GROUP BY ALL
ORDER BY ALL"""

_GROUPS: Final = """\
SELECT task, scorer, pass, unnest(map_keys(tags)) AS tag, unnest(map_values(tags)) AS value_of_tag,
    avg(coalesce(value, 0)) AS mean, count(*) AS samples
FROM scores
GROUP BY ALL
ORDER BY ALL"""


def rates(report: Report) -> str:
    """The query of the rates; empty where the log alone does not have them.

    They are over the run's own window, with tokens that the server counted.
    """
    is_own = report.run.definitions.get("throughput_window", "run") == "run"
    is_counted = report.tokens.source in {"server_usage", "chunks", None}
    return _RATES if is_own and is_counted else ""


def latency(report: Report, column: str, label: str = "") -> str:
    """The query of the distribution of a metric.

    Args:
        report: Says how percentiles are taken, and whether TPOT is weighted by tokens.
        column: The field of the report, which is the column of `samples`; for ITL, `itl_ms`.
        label: Of the row; none by default.
    """
    method = report.run.percentile_method
    figures = [f"{_percentile(method, p)} AS {name}" for name, p in PERCENTILES.items()]
    named = f"'{label}' AS metric, " if label else ""
    return (
        f"SELECT {named}count(ms) AS n, avg(ms) AS mean, {', '.join(figures)}, max(ms) AS max\n"
        f"FROM ({_values(report, column)})"
    )


def latencies(report: Report, columns: Iterable[tuple[str, str]]) -> str:
    """The query of several, a row each, by columns and labels."""
    return "\nUNION ALL\n".join(latency(report, column, label) for column, label in columns)


def accuracy() -> str:
    """The query of the scores of all scoring passes."""
    return _ACCURACY


def groups() -> str:
    """The query of the scores of all parts of benchmarks."""
    return _GROUPS


def _values(report: Report, column: str) -> str:
    if column == "itl_ms":
        return _GAPS
    if column == "tpot_ms" and report.run.tpot_mode == "token_weighted":
        return _BY_TOKEN
    return _VALUES.format(column=column)


def _percentile(method: str, p: Fraction) -> str:
    """A percentile as SQL, by the methods of `reporter.quantile`."""
    share = f"{float(p):g}"
    if method == "linear":
        return f"quantile_cont(ms, {share})"
    rank = {
        "lower": f"floor((count(ms) - 1) * {share}::DECIMAL(6, 4))",
        "loadgen_floor": f"floor(count(ms) * {share}::DECIMAL(6, 4))",
        "nearest_rank": f"greatest(ceil(count(ms) * {share}::DECIMAL(6, 4)), 1) - 1",
    }[method]
    return f"list_sort(list(ms) FILTER (ms IS NOT NULL))[({rank})::BIGINT + 1]"
