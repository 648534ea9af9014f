"""A run on disk: report, SQL over the log, verdict, and comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from loadgen.notebook import html_of_report, show_values_as_html
from loadgen.sessions.error_exit_codes import one_tree
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from loadgen.options import GateOptions
    from loadgen.plots import DrawnPlot
    from reporter.compare.comparison import Comparison
    from reporter.report import Finding, Report
    from rulesets.metric import Metric
    from rulesets.ruleset import Ruleset
    from rulesets.verdict import Verdict

show_values_as_html()


def open_run(folder: str | Path) -> Run:
    """Open a run: complete, still running, or cut off.

    Args:
        folder: Its folder, or the log in it.

    Raises:
        UsageError: The folder has no log, or is that of a sweep, a search or a suite.
    """
    return Run(folder)


class Run:
    """A run, by log. Close the run, or use a context manager, where many are opened.

    Everything is computed from the log when it is asked for. A run that is still running is read as it was at
    the first question; open it again for a later state.

    Args:
        folder: Its folder, or the log in it.

    Attributes:
        folder: Its folder.

    Raises:
        UsageError: The folder has no log, or is that of a sweep, a search or a suite.
    """

    def __init__(self, folder: str | Path) -> None:
        from loadgen.sessions.files.run_folder import folder_of
        from loadgen.sessions.files.series_file import require_run
        from recorder.store import LOG_NAME, log_path
        from reporter.log.storage_place import archive_of

        path = Path(folder)
        with one_tree():
            require_run(path)
            if not (log_path(path).is_file() or archive_of(path)):
                raise UsageError(
                    f"{path}: there is no log here ({LOG_NAME}), so it is not the folder of a run"
                )
        self.folder = folder_of(path)
        self._connection: DuckDBPyConnection | None = None
        self._tables: frozenset[str] = frozenset()
        self._findings: Sequence[Finding] | None = None

    def report(
        self,
        *,
        percentiles: str | None = None,
        tokenizer: str | None = None,
        prices: str | Path | None = None,
    ) -> Report:
        """The report, with the verdict of the rules that the run was started with; writes `report.json`.

        Args:
            percentiles: Further percentiles of every latency, as in `"50,75,99.9"`.
            tokenizer: The name or folder of a tokenizer that counts tokens where the server did not.
            prices: A file of prices, for the cost.

        Raises:
            UsageError: The log cannot be read, or an argument is invalid.
        """
        from loadgen.sessions.run.report_of_log import write_report
        from loadgen.sessions.settings.definition_options import percentiles_of
        from loadgen.sessions.settings.price_options import load as load_prices
        from loadgen.sessions.settings.tokenizer_options import load as load_tokenizer
        from reporter.report_options import ReportOptions

        with one_tree():
            return write_report(
                self.folder,
                None,
                options=ReportOptions(
                    prices=load_prices(None if prices is None else Path(prices)),
                    tokenizer=load_tokenizer(tokenizer),
                    percentiles=percentiles_of(percentiles),
                ),
            )

    def sql(self, query: str) -> DuckDBPyRelation:
        """Ask the log in DuckDB's SQL; docs/sql.md has the views.

        The relation is computed on use: `.fetchall()`, `.df()` (pandas), `.arrow()`, `.pl()` (polars).
        It can neither read nor write files, and lives as long as this run is open.

        Args:
            query: A SELECT.

        Raises:
            UsageError: The SQL is wrong, or the log cannot be read.
        """
        from reporter.log.query import relation

        with one_tree():
            return relation(self._opened(query), query)

    def outputs(self) -> DuckDBPyRelation:
        """The prompts and answers: a row per measured request with `prompt`, `output` and `error`.

        Raises:
            UsageError: The log cannot be read.
        """
        return self.sql(
            "SELECT sample_uuid, prompts.prompt, output, reasoning, tool_calls, error FROM samples "
            "LEFT JOIN outputs USING (sample_uuid) LEFT JOIN prompts USING (prompt_id) ORDER BY issued_ns"
        )

    def gate(
        self,
        rules: str | Path | Ruleset | Sequence[str] | Iterable[Metric] | None = None,
        **options: Unpack[GateOptions],
    ) -> Verdict:
        """Evaluate the run by rules.

        Args:
            rules: Targets such as `["ttft:p(99)<500ms"]`, the name or the file of a ruleset, metrics such as
                `[TTFT(500)]` of `loadgen.rules`, a `Ruleset`, or None for the rules that the run was started
                with.
            **options: Those of `loadgen gate`.

        Returns:
            The verdict: `status` is `PASS`, `FAIL`, `INCONCLUSIVE` or `INVALID`; `rows` has one row per rule.

        Raises:
            UsageError: No rules are given, they are invalid, or the log cannot be read.
        """
        from loadgen.sessions.evaluate_run import evaluate
        from loadgen.sessions.settings.from_python import settings_of
        from loadgen.sessions.settings.gate import GateSettings
        from loadgen.sessions.settings.tokenizer_options import load

        ruleset, values = _rules(rules, dict(options))
        with one_tree():
            settings = settings_of(GateSettings, {**values, "run": self.folder})
            tokenizer = load(settings.tokenizer)
            report, _ = evaluate(self.folder, settings, tokenizer, settings.skip, ruleset)
            return cast("Verdict", report.verdict)  # it was evaluated by rules

    def compare(
        self, other: Run | str | Path, *, metrics: Sequence[str] = (), alpha: float = 0.05
    ) -> Comparison:
        """Compare another run with this one, the reference.

        Args:
            other: The run that may have changed.
            metrics: The metrics that decide, in place of the usual ones, as in `["ttft:p(95)"]`.
            alpha: The accepted probability of any false positive among them.

        Returns:
            Each metric with its change and interval; `status` is `FAIL` when one is significantly worse.

        Raises:
            UsageError: A log cannot be read, or the metric does not exist.
        """
        from loadgen.sessions.compare_runs import compare_runs
        from loadgen.sessions.settings.compare import CompareSettings
        from loadgen.sessions.settings.from_python import settings_of

        with one_tree():
            changed = other.folder if isinstance(other, Run) else Path(other)
            values: Mapping[str, Any] = {"runs": [self.folder, changed], "metric": metrics, "alpha": alpha}
            return compare_runs(settings_of(CompareSettings, values))

    def plot(self, name: str, *, tag: str | None = None) -> DrawnPlot:
        """A plot of the run as a value: axes, series of points, the SQL behind the points, and a picture.

        Args:
            name: As `loadgen plot --list` names it; one plot, not a picture of several.
            tag: A tag of the dataset, for a series per value.

        Raises:
            UsageError: The plot does not exist, the run has no data for it, or the log cannot be read.
        """
        from loadgen.plots import plot

        return plot(self, name=name, tag=tag)

    def close(self) -> None:
        """Release the memory of `sql`. Closing twice is harmless."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    def _repr_html_(self) -> str | None:
        return html_of_report(self.report)

    def _opened(self, query: str) -> DuckDBPyConnection:
        """A connection with what a query reads; each relation keeps the connection alive."""
        from loadgen.sessions.sql_query import findings_asked
        from reporter.log.query import open_for_queries
        from reporter.log.tables import big_tables_in

        tables = frozenset(big_tables_in(query))
        findings = None if self._findings else findings_asked(self.folder, query)
        if self._connection is None or not tables <= self._tables or findings is not None:
            self._tables |= tables
            self._findings = findings or self._findings
            self._connection = open_for_queries(self.folder, self._tables, self._findings)
        return self._connection


def _rules(rules: Any, options: dict[str, Any]) -> tuple[Ruleset | None, dict[str, Any]]:
    """A ruleset, or the options that name rules."""
    from rulesets.metric import Metric
    from rulesets.ruleset import Ruleset
    from rulesets.ruleset_of_metrics import of_metrics

    if rules is None:
        return None, options
    if isinstance(rules, Ruleset):
        return rules, options
    if isinstance(rules, str | Path):
        return None, {**options, "ruleset": str(rules)}
    listed = list(rules)
    if all(isinstance(rule, Metric) for rule in listed):
        with one_tree():
            return of_metrics(listed), options
    if not all(isinstance(rule, str) for rule in listed):
        raise UsageError("rules: give targets as texts, or metrics, not both")
    return None, {**options, "require": [*listed, *(options.get("require") or ())]}
