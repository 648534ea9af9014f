"""A folder for a while."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from loadgen.driver.system.signals import deferred

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder for a while that no interrupt leaves behind, also while it is made or removed."""
    with deferred():
        folder = TemporaryDirectory(prefix=prefix)
    try:
        yield Path(folder.name)
    finally:
        with deferred():
            folder.cleanup()
