"""The input and the output of an export: the report or the log of a run, and a file that is written whole."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 (a field's type)
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import writing_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog
    from reporter.report import Report


@dataclass(frozen=True, slots=True)
class Exported:
    """The output of an export.

    Attributes:
        place: What it was written to: `file`, `folder`, `url` or `tracker`.
        details: What else a program wants to know, by name.
        invalid: Whether the run does not represent the server, and the exit code says so.
        text: What is printed instead of all that; None where the target is not standard output.
    """

    place: str
    target: str
    rows: int
    details: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    unit: str = "request"
    invalid: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return {self.place: self.target, "rows": self.rows, **self.details}


def report_of(settings: ExportSettings, percentiles: str = "") -> Report:
    """The report that `loadgen report` shows with these options, and with more percentiles."""
    from loadgen.sessions.run.report_of_log import make_report
    from loadgen.sessions.settings.price_options import load as load_prices
    from loadgen.sessions.settings.tokenizer_options import load as load_tokenizer
    from reporter.percentiles import percentiles_named
    from reporter.report_options import ReportOptions

    options = ReportOptions(
        percentiles=percentiles_named(percentiles) if percentiles else None,
        tokenizer=load_tokenizer(settings.tokenizer),
        prices=load_prices(settings.prices),
        scoring_pass=settings.scoring_pass,
    )
    return make_report(settings.run, None, options=options)


def requests_of(report: Report) -> int:
    """How many requests a report is about, warm-up included."""
    return report.counts.issued + report.counts.warmup


@contextmanager
def opened(settings: ExportSettings) -> Iterator[OpenLog]:
    """Open the log of the run that is exported, with the tokens counted by `--tokenizer`."""
    from loadgen.sessions.run.report_of_log import started_with
    from loadgen.sessions.settings.tokenizer_options import load
    from reporter.errors import blaming
    from reporter.measured_run import DEFAULT
    from reporter.reporter import MetricsReporter
    from reporter.tokens import with_counted_tokens

    rules, _ = started_with(settings.run)
    definitions = rules.definitions if rules else DEFAULT
    with MetricsReporter(settings.run) as reporter, blaming(settings.run):
        yield with_counted_tokens(reporter.log.with_definitions(definitions), load(settings.tokenizer))


def require_writable(option: str, file: Path, *, force: bool | None) -> None:
    """Make sure that a file can be written.

    Args:
        option: The option that names it, for messages.
        file: The file.
        force: Whether an existing one is overwritten; None where no option does that.

    Raises:
        UsageError: It exists, is a folder, or its folder does not exist.
    """
    if file.is_dir():
        raise UsageError(f"{option} {file}: is a folder; name a file")
    if file.exists() and not force:
        forced = "" if force is None else ", or --force"
        raise UsageError(f"{option} {file}: the file exists; choose another name{forced}")
    if not file.parent.is_dir():
        raise UsageError(f"{option} {file}: the folder {file.parent} does not exist")


@contextmanager
def writing(file: Path) -> Iterator[IO[bytes]]:
    """Write a file that appears when the block ends in order; raise `SetupError` if it cannot be written."""
    try:
        with writing_whole(file) as unfinished:
            yield unfinished
    except OSError as error:
        raise SetupError(f"{file} cannot be written ({error.strerror})") from error
