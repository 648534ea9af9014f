"""`loadgen selftest`: the client on every shape of a stream and every fault, beside what the server did."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli import errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cli.conformance.judging import Judged
    from cli.conformance.row import Row

_FAILED = 1


def selftest(
    *,
    transport: Annotated[
        Literal["native", "aiohttp", "both"],
        typer.Option(help="The transport to try."),
    ] = "both",
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="A protocol to try, repeatable; all of them by default."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A scenario to try, repeatable; all of them by default."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print every row as JSON instead of the table.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(help="A new folder for the logs and the server's truth, which are thrown away else."),
    ] = None,
) -> None:
    """Try this client on every shape of a stream and every fault, beside a server that knows what it did.

    The server is a child process that plays each scenario byte for byte. The client is the one of perf; its
    figures are read from its log. Exit 1 when a row fails. What is right, and why: docs/conformance.md.

    [bold]Examples[/bold]

    loadgen selftest

    loadgen selftest --only cut --only crlf --protocol chat
    """
    from cli.conformance.row import rows
    from loadgen.workers.parts import PROTOCOLS

    for name in protocol or ():
        if name not in PROTOCOLS:
            raise errors.UsageError(f"--protocol {name}: not a protocol; choose from {', '.join(PROTOCOLS)}")
    transports = ("native", "aiohttp") if transport == "both" else (transport,)
    judged = _try(rows(only or (), protocol or PROTOCOLS, transports), keep)
    _print(judged, json=json)
    if not all(one.passed for one in judged):
        raise typer.Exit(_FAILED)


def _try(rows: Sequence[Row], keep: Path | None) -> list[Judged]:
    """Try the rows, telling how far it is."""
    from tempfile import TemporaryDirectory

    from cli.conformance.trial import try_all

    # The server is on this machine, whatever proxy leads to others.
    os.environ["no_proxy"] = "*"
    if keep is not None:
        if keep.exists():
            raise errors.UsageError(f"--keep {keep}: it is there already; name a new folder")
        return try_all(rows, keep, done=_Progress(len(rows)))
    with TemporaryDirectory(prefix="loadgen-selftest-", ignore_cleanup_errors=True) as folder:
        return try_all(rows, Path(folder), done=_Progress(len(rows)))


class _Progress:
    """Tells on a terminal how many rows have been asked; nothing elsewhere."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._asked = 0

    def __call__(self, row: Row) -> None:
        """Count a row."""
        self._asked += 1
        if sys.stderr.isatty():
            again = f", {self._asked - self._rows} again" if self._asked > self._rows else ""
            line = f"asked {min(self._asked, self._rows)} of {self._rows} rows{again}: {row}"
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{line[:width]}")
            sys.stderr.flush()


def _print(judged: Sequence[Judged], *, json: bool) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if json:
        import orjson

        print(orjson.dumps([_record(one) for one in judged], option=orjson.OPT_INDENT_2).decode())
        return
    from cli.conformance.table import table
    from cli.show import page

    sys.stdout.write(table(judged, **page()))


def _record(one: Judged) -> dict[str, object]:
    """A row as JSON has it."""
    return {
        "scenario": one.row.scenario.name,
        "protocol": one.row.protocol,
        "transport": one.row.transport,
        "passed": one.passed,
        "tries": one.tries,
        "expected": one.row.expected.sees,
        "seen": one.seen,
        "true_ms": one.true._asdict(),
        "measured_ms": one.measured._asdict(),
        "expected_tokens": one.row.expected.tokens,
        "tokens": one.tokens,
        "misses": [miss.what for miss in one.misses],
    }
