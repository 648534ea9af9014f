"""`loadgen view`: a folder of runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from loadgen.sessions.settings.option import Argument, Option


def view(
    folder: Annotated[Path, Argument(metavar="[DIR]", help="The folder with the runs.")] = Path("runs"),
    *,
    port: Annotated[int, Option(min=0, max=65535, help="The port to listen on; 0 takes a free port.")] = 0,
    open_browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the address in the browser.")
    ] = True,
) -> None:
    """Show runs in the browser: a list, reports, comparisons, runs in progress, and SQL.

    On 127.0.0.1 only; open the printed URL, which contains an access token. Runs are only read. Ctrl-C stops
    the server.

    [bold]Examples[/bold]

    loadgen view

    loadgen view artifacts --port 8080 --no-browser
    """
    from loadgen.plugins.viewing.page_server import view as serve

    def listening(url: str) -> None:
        print(f"viewing {folder} at {url}\nCtrl-C ends it", flush=True)
        if open_browser:
            import webbrowser

            webbrowser.open(url)

    serve(folder, port, listening)
