"""`loadgen check`: whether the endpoint answers, and supports the features of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.sessions.run.endpoint_checks import CheckLine
    from loadgen.sessions.settings.endpoint_options import CheckSettings


def check(settings: CheckSettings) -> None:
    """Check an endpoint with a few small requests: reachable, model known, answers, streams, sends usage.

    Further lines name what a run can use: parameters, metrics, protocols, media, vectors, speech, mixes of
    models, and whether the endpoint stops a request whose client leaves.

    Exit 3 when it cannot be reached, 2 when it rejects the key or the model, 4 when it answers wrongly.

    [bold]Example[/bold]

    loadgen check --url http://127.0.0.1:8000 --model llama
    """
    from loadgen.driver.stop import run_unless_interrupted
    from loadgen.sessions.run.endpoint_checks import ask_endpoint
    from loadgen.sessions.run.endpoint_probe import default_url_named

    lines: list[CheckLine] = []
    emit = lines.append if settings.json else printer(lines)
    with default_url_named(settings):
        run_unless_interrupted(lambda: ask_endpoint(settings, emit))
    if settings.json:
        print_json(lines)
    if any(line.status == "failed" for line in lines):
        raise SystemExit(ExitCode.INVALID)


def print_json(lines: list[CheckLine]) -> None:
    """Print all lines as a JSON array."""
    import orjson

    from reporter.render.json import printable

    print(printable(orjson.dumps(lines, option=orjson.OPT_INDENT_2).decode()))


def printer(lines: list[CheckLine]) -> Callable[[CheckLine], None]:
    """Keep lines, and print each at once."""
    from rich.console import Console
    from rich.text import Text

    from reporter.render.console_page import clean

    styles = {"ok": "green", "warning": "yellow", "failed": "bold red"}
    console = Console(highlight=False, soft_wrap=True)

    def emit(line: CheckLine) -> None:
        lines.append(line)
        text = Text(f"{line.status:<8}", style=styles[line.status])
        text.append(f"{line.check:<10} {clean(line.detail)}", style="default")
        console.print(text)
        console.file.flush()

    return emit
