"""The report of the run that is exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.settings.export import ExportSettings
    from reporter.report import Report


def report_of(settings: ExportSettings) -> Report:
    """The report that `loadgen report` shows, with `--tokenizer`, `--prices` and `--pass`.

    Raises:
        LogError: The run cannot be read.
        OptionError: The scoring pass does not exist.
    """
    from loadgen.sessions.run.report_of_log import make_report
    from loadgen.sessions.settings.price_options import load as load_prices
    from loadgen.sessions.settings.tokenizer_options import load as load_tokenizer
    from reporter.report_options import ReportOptions

    options = ReportOptions(
        tokenizer=load_tokenizer(settings.tokenizer),
        prices=load_prices(settings.prices),
        scoring_pass=settings.scoring_pass,
    )
    return make_report(settings.run, None, options=options)


def requests_of(report: Report) -> int:
    """How many requests a report is about, warm-up included."""
    return report.counts.issued + report.counts.warmup
