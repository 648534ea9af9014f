"""Standard output and standard error that may be closed, before the start or later."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast


def mend_streams() -> None:
    """Replace closed streams (`2>&-`) by ones that discard the output.

    A closed reader of standard error changes nothing else.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the end)
    sys.stderr = cast("TextIO", _Heedless(sys.stderr))


class _Heedless:
    """A stream that ignores failed writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
