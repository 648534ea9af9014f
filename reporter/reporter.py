"""MetricsReporter: the reporter's interface for Python, kept from the metrics specification."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from reporter.errors import OptionError, blaming
from reporter.log.database import open_for_report
from reporter.log.tables import SAMPLE_VIEWS
from reporter.measured_run import DEFAULT, computed, with_tokens
from reporter.percentiles import method_named
from reporter.report_options import ReportOptions, TPOTReportingMode
from rulesets.definitions import PERCENTILES, Definitions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from reporter.costs import PriceTable
    from reporter.log.database import OpenLog
    from reporter.report import Report
    from reporter.run_facts import OnInvalid
    from reporter.sample_results import ResultOptions
    from reporter.tokens import Tokenizer
    from reporter.validation import Rules
    from rulesets.ruleset import Ruleset


class MetricsReporter:
    """Reports on the log of one run. Use it as a context manager, or close it.

    The log is loaded once, when it is first needed: the reports of one reporter are of the same moment.

    The connection's name is the run's folder, or the log itself; the only client type is `duckdb`.

    Raises:
        OptionError: The client type does not exist.
    """

    def __init__(self, connection_name: str | Path, client_type: str = "duckdb") -> None:
        if client_type != "duckdb":
            raise OptionError(f"unknown client type {client_type!r}; use 'duckdb'")
        self._run = Path(connection_name)
        self._log: OpenLog | None = None

    def create_report(
        self,
        tokenizer: Tokenizer | None = None,
        tpot_reporting_mode: TPOTReportingMode = TPOTReportingMode.REQUEST_WEIGHTED,
        *,
        percentile_method: str | None = None,
        percentiles: Mapping[str, Fraction] = PERCENTILES,
        definitions: Definitions = DEFAULT,
        recount: bool = False,
        scoring_pass: int | None = None,
        prices: PriceTable | None = None,
        ruleset: Rules | None = None,
        judged_by: Ruleset | None = None,
        on_invalid: OnInvalid | None = None,
    ) -> Report:
        """Compute the report, and evaluate a ruleset if one is given.

        Args:
            tokenizer: Counts tokens from the stored texts where the server sent no counts; without one,
                chunks are counted, and a finding says so.
            tpot_reporting_mode: Whether TPOT is distributed over requests or over tokens.
            percentile_method: One of `reporter.percentiles`, in place of that of the definitions.
            percentiles: Those of the reader's choice, from `reporter.percentiles.percentiles_named`; each
                summary has them next to those that it always has.
            definitions: What the figures mean (docs/metrics.md).
            recount: Let the tokenizer count also what the server has counted, to compare the two; the figures
                stay as the definitions say.
            scoring_pass: The only scoring pass that accuracies are of; by default of each scorer the last
                that was finished.
            prices: What tokens cost; without them the report tells no cost.
            ruleset: What the report is validated against, in its `verdict`: a ruleset of
                `rulesets.load`, metrics such as `[rulesets.TTFT(500), rulesets.Throughput(10)]`, or `active`
                for the ruleset that the run was started with. Its definitions take the place of the defaults.
            judged_by: The ruleset that the caller evaluates: its figures decide
                whether the client was too late. By default `ruleset`.
            on_invalid: Whether a run that is invalid only because of the client is accepted (`warn`), by
                default as the run was started.

        Raises:
            LogError: The log is missing, damaged, or of a version that cannot be read.
            NoRoomError: Memory and temporary disk space are too small for what is computed.
            OptionError: The percentile method, the pass or an active ruleset does not exist.
            HeadlineError: A scorer has a figure that is not an aggregate.
            RulesetError, TargetError: The ruleset, or a metric, is invalid.
        """
        options = ReportOptions(
            tokenizer=tokenizer,
            tpot_reporting_mode=tpot_reporting_mode,
            percentile_method=percentile_method,
            percentiles=None if percentiles is PERCENTILES else percentiles,
            recount=recount,
            scoring_pass=scoring_pass,
            prices=prices,
            on_invalid=on_invalid,
        )
        return self.create_report_and_log(definitions, options, ruleset=ruleset, judged_by=judged_by)[0]

    def create_report_and_log(
        self,
        definitions: Definitions = DEFAULT,
        options: ReportOptions = ReportOptions(),  # noqa: B008 (immutable)
        *,
        ruleset: Rules | None = None,
        judged_by: Ruleset | None = None,
    ) -> tuple[Report, OpenLog]:
        """Compute the report, and return it with the log as it was computed from.

        The errors are those of `create_report`.

        Returns:
            The report, and the log, which answers as long as this reporter is open, by the definitions and
            over the window of the report.
        """
        if options.percentile_method is not None:
            method_named(options.percentile_method)  # before the log is read
        return computed(self._run, self._opened(), definitions, options, ruleset=ruleset, judged_by=judged_by)

    def dump_results(
        self,
        path: str | Path,
        tokenizer: Tokenizer | None = None,
        *,
        definitions: Definitions = DEFAULT,
        options: ResultOptions | None = None,
    ) -> int:
        """Write one row for each measured request: texts, latencies in ms, tokens, scores, cost.

        The path ends in `.jsonl`, `.csv` or `.parquet`; docs/export.md describes the columns. The options say
        what is in the file, by default everything but the cost.

        Returns:
            How many rows were written.

        Raises:
            LogError: The log is missing, damaged, or of a version that cannot be read.
            NoRoomError: Memory and temporary disk space are too small for what is computed.
            OptionError: The ending is of no known format, or the scoring pass or price does not exist.
            OSError: The file cannot be written.
        """
        from reporter.sample_results import TABLES as OF_SAMPLES
        from reporter.sample_results import ResultOptions, write_results

        with blaming(self._run):
            log = with_tokens(self.log.with_definitions(definitions), tokenizer)
            log.load(OF_SAMPLES)
            return write_results(log, Path(path), options or ResultOptions())

    def dump_to_json(self, json_path: str | Path) -> None:
        """Write every event as one JSON object a line: `sample_uuid`, `event_type`, `timestamp_ns`, `data`.

        `data` is the whole payload: with the texts, and the gaps between chunks as a list of microseconds.

        Raises:
            LogError: The log is missing, damaged, or of a version that cannot be read.
            OSError: The file cannot be written.
        """
        from reporter.log.all_events import lines

        with Path(json_path).open("wb") as file:
            file.writelines(lines(self._run))

    def close(self) -> None:
        """Release the memory. Closing twice is harmless."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def log(self) -> OpenLog:
        """The opened log, by the default definitions and over the run's own window."""
        log = self._opened()
        log.load(SAMPLE_VIEWS)
        return log

    def _opened(self) -> OpenLog:
        """The log with the views that a report needs, which are tables where requests are few."""
        if self._log is None:
            self._log = open_for_report(self._run)
        return self._log
