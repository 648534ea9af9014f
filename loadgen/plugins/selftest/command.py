"""`loadgen selftest`: the client tested on every shape of a stream and every fault of a server."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from loadgen.cli.terminal.streams import print_json
from loadgen.driver.client.transport import MEASURES_BEST, TRANSPORTS
from loadgen.sessions import errors
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Option
from rulesets.exit_codes import ExitCode
from workloads.registry import service

_BOTH: Final = "both"
_KINDS: Final = (MEASURES_BEST, "aiohttp")
"""The transports that share no code: what `both` tries."""

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.cli.terminal.live import StatusLine
    from loadgen.plugins.selftest.row_result import RowResult
    from loadgen.plugins.selftest.selftest_row import ConformanceRow

    TransportChoice = str
else:
    TransportChoice = Literal[(*TRANSPORTS, _BOTH)]


def selftest(
    *,
    transport: Annotated[
        TransportChoice,
        Option(help="The transport to try; both: native and aiohttp."),
    ] = _BOTH,
    protocol: Annotated[
        list[str] | None,
        Option(help="A protocol to try; repeatable. Default: all."),
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(help="A scenario to try; repeatable. Default: all."),
    ] = None,
    tls: Annotated[
        bool,
        Option(help="Try the scenarios over TLS, with a server whose certificate is not verified."),
    ] = False,
    json: Json = False,
    keep: Annotated[
        Path | None,
        Option(help="Keep the logs and the server's truth in this new folder. Default: delete both."),
    ] = None,
) -> None:
    """Test this client on every shape of a stream and every fault, against a server with known behavior.

    The server is a child process that plays each scenario byte for byte. The client is the one of perf; its
    figures are read from its log. Exit 1 when a row fails. What is right, and why: docs/scenarios.md.

    [bold]Examples[/bold]

    loadgen selftest

    loadgen selftest --only cut --only crlf --protocol chat
    """
    from loadgen.mock_endpoint.scenarios.catalog import SCENARIOS
    from loadgen.plugins.selftest.grpc_requests import GRPC
    from loadgen.plugins.selftest.replayed_sessions import SESSIONS
    from loadgen.plugins.selftest.selftest_row import rows
    from loadgen.plugins.selftest.spoken_requests import SPOKEN
    from loadgen.plugins.selftest.stated_requests import STATED
    from loadgen.plugins.selftest.uploads import UPLOADS
    from loadgen.plugins.selftest.vector_requests import VECTORS

    whole = {scenario.name: scenario for scenario in (SESSIONS, UPLOADS, STATED, VECTORS, SPOKEN)}
    try:
        service("grpc_connection")()
        whole[GRPC.name] = GRPC
    except errors.UsageError:  # its packages are missing
        if GRPC.name in (only or ()):
            raise
    elsewhere = {*whole, *(each.name for each in SCENARIOS.values() if each.place != "http")}
    if tls and (named := elsewhere.intersection(only or ())):
        raise errors.UsageError(
            f"--tls: {', '.join(sorted(named))} cannot be tried over TLS; leave one of the two out"
        )
    transports = _KINDS if transport == _BOTH else (transport,)
    runs = [
        scenario.name
        for scenario in whole.values()
        if not tls
        and (not only or scenario.name in only)
        and set(protocol or scenario.protocols) & set(scenario.protocols)
    ]
    names = [name for name in only or () if name not in whole]
    chosen = rows(names, protocol, transports) if names or not only or not runs else []
    if tls:
        chosen = [row for row in chosen if row.scenario.name not in elsewhere]
    pairs = [(name, each) for name in runs for each in dict.fromkeys(transports)]
    results = _try(chosen, [pair for pair in pairs if pair != (GRPC.name, "aiohttp")], keep, tls=tls)
    _print(results, json=json)
    if not all(result.passed for result in results):
        raise SystemExit(ExitCode.FAIL)


def _try(
    rows: Sequence[ConformanceRow], runs: Sequence[tuple[str, str]], keep: Path | None, *, tls: bool
) -> list[RowResult]:
    """Try the rows, and whole runs by name and transport, and show the progress."""
    from loadgen.cli.terminal.live import StatusLine
    from loadgen.sessions.scratch_folder import scratch_folder

    # The server is on this machine: no proxy.
    os.environ["no_proxy"] = "*"
    with StatusLine() as status:
        done = _RowProgress(len(rows), status)
        if keep is None:
            with scratch_folder("loadgen-selftest-") as folder:
                return _results(rows, runs, folder, done, tls=tls)
        if keep.exists():
            raise errors.UsageError(f"--keep {keep}: the folder exists; name a new one")
        return _results(rows, runs, keep, done, tls=tls)


def _results(
    rows: Sequence[ConformanceRow],
    runs: Sequence[tuple[str, str]],
    folder: Path,
    done: _RowProgress,
    *,
    tls: bool,
) -> list[RowResult]:
    from loadgen.plugins.selftest.grpc_requests import GRPC, try_grpc
    from loadgen.plugins.selftest.replayed_sessions import SESSIONS, try_sessions
    from loadgen.plugins.selftest.spoken_requests import SPOKEN, try_speech
    from loadgen.plugins.selftest.stated_requests import STATED, try_stated
    from loadgen.plugins.selftest.trial import try_all
    from loadgen.plugins.selftest.uploads import UPLOADS, try_uploads
    from loadgen.plugins.selftest.vector_requests import VECTORS, try_vectors

    tried = {SESSIONS.name: try_sessions, UPLOADS.name: try_uploads, STATED.name: try_stated}
    tried |= {VECTORS.name: try_vectors, SPOKEN.name: try_speech, GRPC.name: try_grpc}
    results = try_all(rows, folder, done=done, tls=tls) if rows else []
    return results + [tried[name](transport, folder / f"{name}-{transport}") for name, transport in runs]


class _RowProgress:
    """Shows on a terminal how many rows have been tried."""

    def __init__(self, rows: int, status: StatusLine) -> None:
        self._rows = rows
        self._status = status
        self._asked = 0

    def __call__(self, row: ConformanceRow) -> None:
        """Count a row."""
        self._asked += 1
        if self._status.is_terminal:
            again = f", {self._asked - self._rows} again" if self._asked > self._rows else ""
            line = f"asked {min(self._asked, self._rows)} of {self._rows} rows{again}: {row}"
            self._status.write(line[: shutil.get_terminal_size().columns - 1])


def _print(results: Sequence[RowResult], *, json: bool) -> None:
    from loadgen.plugins.selftest.row_result import record

    if json:
        print_json([record(result) for result in results])
        return
    from loadgen.cli.terminal.show import page
    from loadgen.plugins.selftest.conformance_table import table

    sys.stdout.write(table(results, **page()))
