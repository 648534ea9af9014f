"""Packages that only an export needs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def importing(option: str, extra: str) -> Iterator[None]:
    """Name the `pip install` command for a package whose import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{option} needs {error.name}, which is not installed: pip install 'llm-loadgen[{extra}]'"
        ) from error
