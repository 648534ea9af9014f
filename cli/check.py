"""`loadgen check`: is the endpoint there, and does it do what a run needs?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import typer

from cli.endpoint_settings import ENDPOINT, EndpointSettings

MOST_PATIENCE_S: Final = 30.0
"""For each question, whatever --timeout says: a check is to be quick."""

_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the answer: what was asked, how it stands, and what to know about it."""

    check: str
    status: Literal["ok", "warning", "failed"]
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckSettings(EndpointSettings):
    """What can be said to `loadgen check`; field by field an option."""

    url: Annotated[
        str,
        typer.Option(envvar="LOADGEN_URL", help="Base URL, with or without /v1.", rich_help_panel=ENDPOINT),
    ]
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False


def check(settings: CheckSettings) -> None:
    """Check an endpoint with a few small requests: reachable, model known, answers, streams, sends usage.

    Exit 3 when it cannot be reached, 2 when it turns the key or the model down, 4 when it answers wrongly.

    [bold]Example[/bold]

    loadgen check --url http://127.0.0.1:8000 --model llama
    """
    import asyncio

    from cli import errors
    from loadgen.stop import unless_interrupted

    lines = asyncio.run(unless_interrupted(_ask(settings)))
    _print(lines, json=settings.json)
    if any(line.status == "failed" for line in lines):
        raise typer.Exit(errors.INVALID)


async def _ask(settings: CheckSettings) -> list[Line]:
    from cli.preparing import targets_of, timeouts_of
    from cli.protocol_options import options_of
    from loadgen.client.codec import Generation
    from loadgen.client.http_transport import HttpTransport
    from loadgen.probe import Prober
    from loadgen.workers.parts import codec_of

    (target,) = targets_of(settings)
    transport = HttpTransport(target, timeouts_of(settings).within(MOST_PATIENCE_S))
    codec = codec_of(settings.protocol, options_of(settings))
    prober = Prober(transport, codec, Generation(settings.model, stream=settings.protocol != "json"))
    try:
        models, probe = await prober.require_ready()
        probe = probe or await prober.completion()
    finally:
        await transport.close()
    lines = [Line("reachable", "ok", target.url), _model(models, settings.model), _answer(probe)]
    # What does not answer cannot be asked how.
    if lines[-1].status == "failed":
        return lines
    return [*lines, *([] if settings.protocol == "json" else [_stream(probe)]), _usage(probe)]


def _model(models: list[str] | None, model: str) -> Line:
    if models is None:
        return Line("model", "warning", f"there is no model list; a request for {model!r} is taken")
    if model in models:
        return Line("model", "ok", f"{model} is listed")
    return Line(
        "model", "warning", f"{model!r} is taken, but not listed ({', '.join(models[:5]) or 'empty list'})"
    )


def _answer(probe: Any) -> Line:
    if probe.status == _OK and probe.answered and probe.failure is None:
        return Line("answers", "ok", "a short question is answered")
    why = probe.message or "there is no token in the response"
    return Line("answers", "failed", f"HTTP {probe.status}: {why}" if probe.status else why)


def _stream(probe: Any) -> Line:
    if probe.streams and probe.ttft_ms is not None:
        return Line("streams", "ok", f"first token after {probe.ttft_ms:.1f} ms")
    return Line("streams", "warning", "the response is not a stream: there will be no TTFT, TPOT or ITL")


def _usage(probe: Any) -> Line:
    if probe.usage:
        return Line("usage", "ok", "the server counts its tokens")
    return Line(
        "usage", "warning", "no usage: tokens are counted by --tokenizer at report time, else by chunks"
    )


def _print(lines: list[Line], *, json: bool) -> None:
    if json:
        import orjson

        from reporter.render.json import printable

        print(printable(orjson.dumps(lines, option=orjson.OPT_INDENT_2).decode()))
        return
    from rich.console import Console
    from rich.text import Text

    from reporter.render.page import clean

    styles = {"ok": "green", "warning": "yellow", "failed": "bold red"}
    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        text = Text(f"{line.status:<8}", style=styles[line.status])
        text.append(f"{line.check:<10} {clean(line.detail)}", style="default")
        console.print(text)
