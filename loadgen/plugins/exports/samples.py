"""`loadgen export --samples`: the per-sample results of a run in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.exports.exported import Exported, require_writable
from loadgen.sessions.errors import SetupError
from loadgen.sessions.observer import SILENT

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.settings.export import ExportSettings
    from reporter.report_options import ReportOptions
    from reporter.sample_results import ResultOptions
    from reporter.tokens import Tokenizer


def write_samples(settings: ExportSettings, file: Path) -> Exported:
    """Write the results per request, by the definitions of the rules that the run was started with."""
    return _exported(settings, file, "--samples", episodes=False)


def write_episodes(settings: ExportSettings, file: Path) -> Exported:
    """Write the results per episode; see `write_samples`."""
    return _exported(settings, file, "--episodes", episodes=True)


def _exported(settings: ExportSettings, file: Path, option: str, *, episodes: bool) -> Exported:
    from loadgen.sessions.settings.price_options import load as load_prices
    from loadgen.sessions.settings.tokenizer_options import load as load_tokenizer
    from reporter.sample_results import ResultOptions, require_format

    require_format(file)
    require_writable(option, file, force=settings.force)
    options = ResultOptions(
        texts=settings.texts,
        raw=settings.raw,
        scoring_pass=settings.scoring_pass,
        prices=load_prices(settings.prices),
        episodes=episodes,
    )
    count = _written(settings.run, file, options, load_tokenizer(settings.tokenizer))
    return Exported("file", str(file), count, unit="episode" if episodes else "request")


def written_samples(run: Path, file: Path) -> int:
    """Write the results of a run, by the definitions of the run's rules; return the number of rows."""
    from reporter.sample_results import ResultOptions

    return _written(run, file, ResultOptions(), None)


def require_results_file(file: Path) -> None:
    """Raise `UsageError` or `OptionError`, before a run, if its results cannot be written to a file."""
    from reporter.sample_results import require_format

    require_format(file)
    require_writable("--output", file, force=None)


def write_run_samples(
    folder: Path,
    file: Path,
    options: ReportOptions,
    model: str,
    observer: Observer = SILENT,
    *,
    episodes: bool = False,
) -> None:
    """Write the results at the end of a run.

    A file that cannot be written is not an error: the log has everything.
    """
    from reporter.sample_results import ResultOptions

    prices = options.prices if options.prices and options.prices.of(model) else None
    results = ResultOptions(prices=prices, episodes=episodes)
    try:
        _written(folder, file, results, options.tokenizer)
    except SetupError as error:
        what = "episodes" if episodes else "samples"
        observer.note(f"note: {error}; write it again with: loadgen export {folder} --{what} FILE")


def _written(run: Path, file: Path, options: ResultOptions, tokenizer: Tokenizer | None) -> int:
    from loadgen.sessions.run.report_of_log import started_with
    from reporter.measured_run import DEFAULT
    from reporter.reporter import MetricsReporter

    rules, _ = started_with(run)
    definitions = rules.definitions if rules else DEFAULT
    with MetricsReporter(run) as reporter:
        try:
            return reporter.dump_results(file, tokenizer, definitions=definitions, options=options)
        except OSError as error:
            raise SetupError(f"{file} cannot be written ({error.strerror})") from error
