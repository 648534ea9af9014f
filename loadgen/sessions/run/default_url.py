"""The endpoint that is meant where none is named, in the error when there is none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from loadgen.driver.errors import UnreachableError
from loadgen.sessions.settings.endpoint import DEFAULT_URL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.sessions.settings.endpoint import EndpointSettings


@contextmanager
def default_url_named(settings: EndpointSettings) -> Iterator[None]:
    """Note that the URL of an unreachable endpoint is the default, where so.

    Raises:
        UnreachableError: As raised inside.
    """
    try:
        yield
    except UnreachableError as error:
        if settings.url:
            raise
        raise UnreachableError(
            f"no --url was given, nor LOADGEN_URL; tried {DEFAULT_URL}: {error}"
        ) from error
