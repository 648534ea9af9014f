"""The interface of trackers: a function that publishes a run, by the options of `loadgen export --to`."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from loadgen.sessions.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from loadgen.plugins.exports.render.record import RunRecord
    from loadgen.sessions.settings.export import ExportSettings

_USER_OF_A_URL: Final = re.compile(r"(?<=//)[^/@\s]+(?=@)")


class Publish(Protocol):
    """Publishes a run; a run that the tracker has already is updated."""

    def __call__(self, settings: ExportSettings, record: RunRecord) -> str:
        """Publish a run.

        Returns:
            Where it is.

        Raises:
            UsageError: The extra is not installed, or an option is missing.
            SetupError: The tracker did not take it.
        """
        ...


@contextmanager
def reported(
    option: str, errors: tuple[type[Exception], ...], secrets: Collection[str] = ()
) -> Iterator[None]:
    """Turn a tracker's errors into one line without secrets.

    Args:
        option: What the user gave.
        errors: The exceptions of the tracker's library.
        secrets: The environment variables whose values no message repeats.

    Raises:
        SetupError: One of them was raised.
    """
    expected: tuple[type[Exception], ...] = (*errors, OSError)
    try:
        yield
    except expected as error:
        # Some libraries raise an empty error for one that says why.
        message = str(error) or str(error.__cause__ or "") or type(error).__name__
        raise SetupError(f"{option}: {_hidden(message, secrets)}") from None


def _hidden(text: str, variables: Collection[str]) -> str:
    for variable in variables:
        if value := os.environ.get(variable):
            text = text.replace(value, "***")
    return _USER_OF_A_URL.sub("***", " ".join(text.split()))
