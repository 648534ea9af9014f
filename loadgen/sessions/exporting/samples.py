"""`loadgen export --samples`: the per-sample results of a run in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import SetupError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings


def write_samples(settings: ExportSettings, file: Path) -> int:
    """Write the results, by the definitions of the rules that the run was started with.

    Returns:
        The number of rows.

    Raises:
        UsageError: The file exists, or its folder does not.
        SetupError: It cannot be written.
        OptionError: Its ending is of no known format, or the scoring pass or price does not exist.
        LogError: The run cannot be read.
    """
    from loadgen.sessions.run.report import started_with
    from loadgen.sessions.settings.prices import load as load_prices
    from loadgen.sessions.settings.tokenizer import load as load_tokenizer
    from reporter.reporter import DEFAULT, MetricsReporter
    from reporter.sample_results import ResultOptions, require_format

    require_format(file)
    if file.exists() and not settings.force:
        raise UsageError(f"--samples {file}: the file exists; choose another name, or --force")
    if not file.parent.is_dir():
        raise UsageError(f"--samples {file}: there is no folder {file.parent}")
    options = ResultOptions(
        texts=settings.texts,
        raw=settings.raw,
        scoring_pass=settings.scoring_pass,
        prices=load_prices(settings.prices),
    )
    rules, _ = started_with(settings.run)
    definitions = rules.definitions if rules else DEFAULT
    tokenizer = load_tokenizer(settings.tokenizer)
    with MetricsReporter(settings.run) as reporter:
        try:
            return reporter.dump_results(file, tokenizer, definitions=definitions, options=options)
        except OSError as error:
            raise SetupError(f"{file} cannot be written ({error.strerror})") from error
