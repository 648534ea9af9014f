"""The argument that names a run, or a series of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from loadgen.sessions.settings.option import Argument, Option

Run = Annotated[Path, Argument(help="The run's folder or events.db.", show_default=False)]


RunOrSeries = Annotated[
    Path,
    Argument(
        help="A run's folder or events.db; or the folder of a sweep, a search or a suite.",
        show_default=False,
    ),
]

Runs = Annotated[
    list[Path],
    Argument(
        metavar="RUN...",
        help="Folders of runs, archives, or series; also as patterns: 'runs/*'.",
        show_default=False,
    ),
]

ArchivePlace = Annotated[
    str | None,
    Option(
        "--out -o",
        help="A folder, or s3://BUCKET/PREFIX or gs://BUCKET/PREFIX; by default archive in the run's folder.",
        show_default=False,
    ),
]
