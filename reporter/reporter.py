"""MetricsReporter: the reporter's interface for Python, kept from the metrics specification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import orjson

from reporter.accuracy.computing import TABLES, accuracy, asks_benchmarks
from reporter.border import blaming
from reporter.defining import define
from reporter.errors import OptionError
from reporter.kinds import document
from reporter.log import load_big_tables, open_log, rows
from reporter.metrics import TPOTReportingMode, compute
from reporter.quantile import method_named
from reporter.tokens import count_tokens, texts_needed
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from types import TracebackType

    from duckdb import DuckDBPyConnection

    from reporter.costs.prices import PriceTable
    from reporter.report import Report
    from reporter.tokens import Tokenizer

DEFAULT: Final = Definitions()


class MetricsReporter:
    """Reports on the log of one run. Use it as a context manager, or close it.

    The log is loaded once, when it is first needed: the reports of one reporter are of the same moment.

    Args:
        connection_name: The run's folder, or the log itself.
        client_type: What computes; there is `duckdb`.

    Raises:
        OptionError: There is no such client type.
    """

    def __init__(self, connection_name: str | Path, client_type: str = "duckdb") -> None:
        if client_type != "duckdb":
            raise OptionError(f"there is no client type {client_type!r}; use 'duckdb'")
        self._run = Path(connection_name)
        self._connection: DuckDBPyConnection | None = None

    def create_report(
        self,
        tokenizer: Tokenizer | None = None,
        tpot_reporting_mode: TPOTReportingMode = TPOTReportingMode.REQUEST_WEIGHTED,
        *,
        percentile_method: str | None = None,
        definitions: Definitions = DEFAULT,
        recount: bool = False,
        scoring_pass: int | None = None,
        prices: PriceTable | None = None,
    ) -> Report:
        """Compute the report.

        Args:
            tokenizer: Counts tokens from the stored texts where the server sent no counts; without one,
                chunks are counted, and a finding says so.
            tpot_reporting_mode: Whether TPOT is distributed over requests or over tokens.
            percentile_method: One of `reporter.quantile`, in place of that of the definitions.
            definitions: What the figures mean (docs/metrics.md).
            recount: Let the tokenizer count also what the server has counted, to compare the two; the figures
                stay as the definitions say.
            scoring_pass: The only scoring pass that accuracies are of; by default of each scorer the last
                that was finished.
            prices: What tokens cost; without them the report tells no cost.

        Raises:
            LogError: There is no log that this version reads, or it is damaged.
            NoRoomError: There is no room for what is computed.
            OptionError: There is no such percentile method, or no such pass.
            HeadlineError: A scorer names a figure that is no aggregate.
        """
        if percentile_method is not None:
            definitions = replace(definitions, percentile_method=method_named(percentile_method))
        connection = self._opened()
        with blaming(self._run):
            define(connection, definitions)
            load_big_tables(connection, self._run, texts_needed(definitions, tokenizer))
            count_tokens(connection, tokenizer, definitions, recount=recount)
            benchmarks = asks_benchmarks(connection)
            load_big_tables(connection, self._run, TABLES if benchmarks else ())
            report = compute(
                connection,
                tpot_mode=tpot_reporting_mode,
                definitions=definitions,
                tokenizer=getattr(tokenizer, "name_or_path", None),
            )
            if benchmarks or scoring_pass is not None:
                report = replace(report, accuracy=accuracy(connection, scoring_pass))
            return report if prices is None else self._with_cost(report, prices, benchmarks=benchmarks)

    def _with_cost(self, report: Report, prices: PriceTable, *, benchmarks: bool) -> Report:
        from reporter.costs.computing import TABLES as PRICED
        from reporter.costs.computing import cost

        connection, model = self._opened(), str(report.run.get("model"))
        load_big_tables(connection, self._run, PRICED if benchmarks else ())
        found = cost(connection, prices, model, report.accuracy, benchmarks=benchmarks)
        return replace(report, cost=found)

    def dump_to_json(self, path: str | Path) -> None:
        """Write every event as one JSON object a line: `sample_uuid`, `event_type`, `timestamp_ns`, `data`.

        `data` is the whole payload: with the texts, and the gaps between chunks as a list of microseconds.

        Raises:
            LogError: There is no log that this version reads, or it is damaged.
            OSError: The file cannot be written.
        """
        with Path(path).open("wb") as file:
            file.writelines(_line(row) for row in rows(self._run))

    def close(self) -> None:
        """Give back the memory. Closing twice is harmless."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def connection(self) -> DuckDBPyConnection:
        """The opened log, with the views as the last report was computed with."""
        return self._opened()

    def _opened(self) -> DuckDBPyConnection:
        if self._connection is None:
            self._connection = open_log(self._run)
        return self._connection


def _line(row: dict[str, Any]) -> bytes:
    data = document(row["data"]) if row["data"] else None
    if row["texts"]:
        data = {**(data or {}), "texts": document(row["texts"])}
    if row["chunk_gaps_us"]:
        data = {**(data or {}), "chunk_gaps_us": row["chunk_gaps_us"]}
    return orjson.dumps(
        {
            "sample_uuid": row["sample_uuid"] or None,
            "event_type": row["type"],
            "timestamp_ns": row["at_ns"],
            "data": data,
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )
