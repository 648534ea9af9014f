"""`loadgen archive`: a run's logs as Parquet."""

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.run_argument import ArchivePlace, Run


def archive(run: Run, *, out: ArchivePlace = None, json: Json = False) -> None:
    """Write a run's logs as Parquet, readable by all commands like a log (docs/archive.md)."""
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.archiving import archive_run, described

    print(described(archive_run(run, out, Terminal(quiet=json)), run, as_json=json))
