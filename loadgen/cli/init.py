"""`loadgen init`: a suite to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from loadgen.sessions.settings.option import Argument


def init(
    path: Annotated[Path, Argument(help="The file, which must not exist yet, or a folder for it.")] = Path(
        "suite.toml"
    ),
) -> None:
    """Write a commented suite to begin with; its first lines say how to try it against the mock endpoint.

    [bold]Example[/bold]

    loadgen init && loadgen run suite.toml --dry-run
    """
    from importlib.resources import files

    from loadgen.sessions.errors import UsageError, printable

    if path.is_dir():
        path /= "suite.toml"
    if path.suffix != ".toml":
        raise UsageError(f"{path}: the suite is written in TOML: give it a name that ends in .toml")
    starter = files("loadgen.sessions.series.suite").joinpath("starter.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starter)
    except FileExistsError:
        raise UsageError(f"{path} exists already, and nothing is overwritten: name another file") from None
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the folder {path.parent} does not exist; create it, or name another one"
        ) from None
    except NotADirectoryError:
        raise UsageError(f"{path}: {path.parent} is not a folder; name another one") from None
    shown = printable(str(path))
    print(f"{shown} is written; its first lines say how to try it. Next: loadgen run {shown} --dry-run")
