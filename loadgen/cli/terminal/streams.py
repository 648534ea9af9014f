"""Standard output and standard error, whose readers may be gone before the start or leave later."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from loadgen.sessions.arguments import with_open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def mend_streams() -> None:
    """Mend closed streams (`2>&-`), characters that an encoding lacks, and a reader of errors that left."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the end)
    with suppress(OSError):  # a stream of a process that was forked may seek where a pipe is now
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
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


@contextmanager
def file_on_standard_output(arguments: Sequence[str]) -> Iterator[Sequence[str]]:
    """Keep standard output for the file that an option names `-`; what is printed goes to standard error.

    Yields:
        The arguments, with the place of standard output for that name.
    """
    if not any(word.removeprefix("--").endswith("-") for word in arguments):
        yield arguments
        return
    sys.stdout.flush()
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as output:
        words = with_open_file(arguments, output.fileno())
        with nullcontext() if words == arguments else redirect_stdout(sys.stderr):
            yield words


def end_with_the_reader() -> None:
    """Let SIGPIPE end the process when standard output closes; not for commands that open sockets."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    import orjson

    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())
