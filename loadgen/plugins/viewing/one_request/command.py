"""`loadgen request`: one request of a run."""

from __future__ import annotations

import sys
from typing import Annotated

from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument
from loadgen.sessions.settings.run_argument import Run


def request(
    run: Run,
    named: Annotated[
        str,
        Argument(metavar="N|ID", help="The number by time of issue, from 1, or the id.", show_default=False),
    ],
    *,
    json: Json = False,
) -> None:
    """Show one request of a run: figures, moments, attempts, prompt, answer, and the server's own times.

    [bold]loadgen view[/bold] has the same as a page, with every chunk. Ids are in
    [bold]samples[/bold].

    [bold]Examples[/bold]

    loadgen request RUN 1

    loadgen request RUN 1 --json
    """
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.plugins.viewing.one_request.detail import request_detail

    end_with_the_reader()
    detail = request_detail(run, named)
    if json:
        from dataclasses import asdict

        import orjson

        sys.stdout.write(
            orjson.dumps(asdict(detail), default=str, option=orjson.OPT_INDENT_2).decode() + "\n"
        )
        return
    from loadgen.cli.terminal.show import page
    from loadgen.plugins.viewing.one_request.page import text_of

    sys.stdout.write(text_of(detail, str(run), **page()))
