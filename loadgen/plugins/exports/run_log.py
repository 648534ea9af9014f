"""A run's log, opened by the definitions that the run was started with."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.sessions.settings.export import ExportSettings
    from reporter.log.database import OpenLog


@contextmanager
def opened(settings: ExportSettings) -> Iterator[OpenLog]:
    """Open the log of the run that is exported, with the tokens counted by `--tokenizer`.

    Raises:
        LogError: It cannot be read, or is damaged.
    """
    from loadgen.sessions.run.report_of_log import started_with
    from loadgen.sessions.settings.tokenizer_options import load
    from reporter.errors import blaming
    from reporter.reporter import DEFAULT, MetricsReporter
    from reporter.tokens import with_counted_tokens

    rules, _ = started_with(settings.run)
    definitions = rules.definitions if rules else DEFAULT
    with MetricsReporter(settings.run) as reporter, blaming(settings.run):
        yield with_counted_tokens(reporter.log.with_definitions(definitions), load(settings.tokenizer))
