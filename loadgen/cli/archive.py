"""`loadgen archive`: a run's logs as Parquet."""

from typing import Annotated

from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option
from loadgen.sessions.settings.run_argument import Run

_OUT = "A folder, or s3://BUCKET/PREFIX or gs://BUCKET/PREFIX; by default archive in the run's folder."


def archive(
    run: Run,
    *,
    out: Annotated[str | None, Option("--out -o", help=_OUT, show_default=False)] = None,
    json: Json = False,
) -> None:
    """Write a run's logs as Parquet, which all commands read as they read a log (docs/archive.md)."""
    from loadgen.sessions.archiving import archive_run, described

    print(described(archive_run(run, out), run, as_json=json))
