"""A folder for a while."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from loadgen.driver.system.signals import deferred

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder for a while that no interrupt leaves behind, also while it is made or removed."""
    with ExitStack() as stack:
        with deferred():  # raises what came meanwhile at its end
            folder = TemporaryDirectory(prefix=prefix)
            stack.callback(_remove, folder)
        yield Path(folder.name)


def _remove(folder: TemporaryDirectory[str]) -> None:
    with deferred():
        folder.cleanup()
