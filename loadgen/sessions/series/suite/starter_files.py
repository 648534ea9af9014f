"""The files that `loadgen init` writes: suites to begin with."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

STARTER: Final = "starter"
FILE: Final = "suite.toml"


def write_template(path: Path, name: str = STARTER) -> Path:
    """Write a suite to begin with."""
    if path.is_dir():
        path /= FILE
    if path.suffix != ".toml":
        raise UsageError(f"{path}: the suite is written in TOML: give it a name that ends in .toml")
    text = files(__package__ or "").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already, and nothing is overwritten: name another file") from None
    except FileNotFoundError:
        raise UsageError(
            f"{path}: the folder {path.parent} does not exist; create it, or name another one"
        ) from None
    except NotADirectoryError:
        raise UsageError(f"{path}: {path.parent} is not a folder; name another one") from None
    return path
