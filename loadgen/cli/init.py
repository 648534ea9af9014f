"""`loadgen init`: a suite to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from loadgen.sessions.settings.option import Argument, Option


def init(
    path: Annotated[Path, Argument(help="The file to create, or a folder for the file.")] = Path(
        "suite.toml"
    ),
    *,
    suite: Annotated[
        Literal["starter", "agents", "cloud", "local"],
        Option(
            help="starter: loads of a mock endpoint; cloud and local: five use cases for models of "
            "providers or of a local server; agents: a model alone and in agents."
        ),
    ] = "starter",
) -> None:
    """Write a commented suite to begin with; the first lines show how to try the suite.

    [bold]Examples[/bold]

    loadgen init && loadgen run suite.toml --dry-run

    loadgen init use-cases.toml --suite local
    """
    from loadgen.sessions.errors import printable
    from loadgen.sessions.series.suite.starter_files import write_template

    shown = printable(str(write_template(path, suite)))
    print(f"{shown} is written, with instructions in the first lines. Next: loadgen run {shown} --dry-run")
