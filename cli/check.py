"""`loadgen check`: is the endpoint there, and does it do what a run needs?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

_OK = 200
_TIMEOUT_S = 60.0
_MAX_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the answer: what was asked, how it stands, and what to know about it."""

    check: str
    status: Literal["ok", "warning", "failed"]
    detail: str


def check(
    url: Annotated[str, typer.Option(envvar="LOADGEN_URL", help="Base URL, with or without /v1.")],
    model: Annotated[str, typer.Option(help="Model name, as the endpoint knows it.")],
    *,
    protocol: Annotated[
        Literal["chat", "completions"],
        typer.Option(help="Chat completions or completions."),
    ] = "chat",
    api_key: Annotated[
        str | None,
        typer.Option(envvar=["LOADGEN_API_KEY", "OPENAI_API_KEY"], help="Bearer token."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(metavar="'NAME: VALUE'", help="A further header.")
    ] = None,
    insecure: Annotated[bool, typer.Option("--insecure", help="Do not verify the TLS certificate.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Check an endpoint with two small requests: reachable, model known, streams, sends usage.

    Exit 3 when it cannot be reached, 2 when it turns the key or the model down, 4 when it answers wrongly.

    [bold]Example[/bold]

    loadgen check --url http://127.0.0.1:8000 --model llama
    """
    import asyncio

    from cli import errors
    from cli.perf_settings import PerfSettings
    from cli.wiring import prepare

    settings = PerfSettings(
        url=url,
        model=model,
        protocol=protocol,
        api_key=api_key,
        header=header or [],
        insecure=insecure,
        max_tokens=_MAX_TOKENS,
        timeout=_TIMEOUT_S,
        requests=1,
    )
    lines = asyncio.run(_ask(prepare(settings)))
    _print(lines, json=json)
    if any(line.status == "failed" for line in lines):
        raise typer.Exit(errors.INVALID)


async def _ask(prepared: Any) -> list[Line]:
    from cli.wiring import CODECS
    from loadgen.client.http_transport import HttpTransport
    from loadgen.probe import Prober

    plan = prepared.plan
    transport = HttpTransport(prepared.target, plan.timeout_s)
    prober = Prober(transport, CODECS[plan.protocol], plan.generation)
    try:
        models = await prober.require_ready()
        probe = await prober.completion()
    finally:
        await transport.close()
    return [
        Line("reachable", "ok", prepared.target.url),
        _model(models, plan.generation.model),
        _answer(probe),
        _stream(probe),
        _usage(probe),
    ]


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

        print(orjson.dumps(lines, option=orjson.OPT_INDENT_2).decode())
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
