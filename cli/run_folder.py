"""A run is a folder: the log, and files that can be made again from it."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Final

from recorder.errors import LogExistsError
from recorder.store import LOG_NAME

REPORT: Final = "report.json"


def new_run_folder(out: Path | None, model: str) -> Path:
    """Choose the folder of a new run, by default `runs/<time>-<model>`; whoever makes the log makes it.

    Raises:
        LogExistsError: It holds a run already.
    """
    folder = out or unused(Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{_name(model)}")
    if (folder / LOG_NAME).exists():
        raise LogExistsError(
            f"{folder} holds a run already, and a run is never overwritten: choose another --out, "
            f"or look at it with `loadgen report {folder}`",
        )
    return folder


def folder_of(run: Path) -> Path:
    """The folder of a run that is named by its folder or by its log."""
    return run if run.is_dir() else run.parent


def unused(folder: Path) -> Path:
    """The folder, or the first of `folder-2`, `folder-3`… that is free: runs may start in the same second."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(name for name in chain([folder], numbered) if not name.exists())


def _name(model: str) -> str:
    """A model's name as a part of a file name: its last part, without what a shell would mind."""
    last = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last).strip("-.")[:60] or "model"
