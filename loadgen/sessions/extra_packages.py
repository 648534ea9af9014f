"""Packages that only an export needs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_DISTRIBUTIONS: Final = {"PIL": "pillow", "google": "protobuf"}


@contextmanager
def importing(option: str, extra: str) -> Iterator[None]:
    """Name the `pip install` command for a package whose import fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = _DISTRIBUTIONS.get(error.name or "", error.name)
        raise UsageError(
            f"{option} needs {package}, which is not installed: pip install 'llm-loadgen[{extra}]'"
        ) from error
