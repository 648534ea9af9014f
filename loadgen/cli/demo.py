"""`loadgen demo`: a complete run against a mock endpoint with known timings."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from loadgen.sessions.settings.option import Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.mock_endpoint.truth import Truth
    from reporter.report import Report

_TTFT = "lognormal:60ms,0.3"
_ITL = "normal:8ms,1ms"
_TOKENS = "uniform:24..96"
_RATE = 40.0
_SECONDS = 6.0
_QUERY = (
    "select phase, count(*) as requests, median(ttft_ms) as ttft_p50_ms "
    "from samples group by all order by all"
)


def demo(
    *,
    out: Annotated[Path | None, Option(help="The run's folder; runs/<time>-demo by default.")] = None,
) -> None:
    """Measure a mock endpoint for a few seconds, and compare the report with the mock's own truth.

    Needs no model, no GPU and no network: the mock runs on this machine and is stopped at the end.
    """
    from loadgen.cli.terminal.show import print_as
    from loadgen.mock_endpoint.process import start_mock
    from loadgen.sessions.arguments import program
    from loadgen.sessions.formats import TEXT
    from loadgen.sessions.run_session import outcome, run
    from loadgen.sessions.settings.perf import perf_settings

    typer.echo(f"A mock endpoint with TTFT {_TTFT}, ITL {_ITL}, {_TOKENS} tokens per reply;")
    typer.echo(f"{_RATE:g} req/s for {_SECONDS:g} s, arriving at random (Poisson):\n")
    with start_mock(models=("demo",), ttft=_TTFT, itl=_ITL, tokens=_TOKENS, seed=1) as mock:
        report, folder = run(
            perf_settings(
                url=[mock.url],
                model="demo",
                rate=str(_RATE),
                duration=_SECONDS,
                warmup="8",
                out=out,
                server_metrics=["auto"],
                require=["ttft:p(99)<500ms", "tpot:p(95)<20ms", "error<1%"],
            ),
        )
        print_as("report", TEXT, report)
        if report.run.ended == "completed":
            typer.echo("\nReported and true, medians in ms:\n")
            typer.echo("\n".join(compared_with_truth(report, mock.truth())))
    typer.echo("\nThe run's log has every event; everything else is computed from it, again at any time:\n")
    typer.echo(f"    {program()} report {folder}")
    typer.echo(f'    {program()} sql {folder} "{_QUERY}"')
    typer.echo(f"    {program()} gate {folder} --require 'latency:p(99)<2s'")
    raise SystemExit(outcome(report))


_MS: Final = 1e6


def compared_with_truth(report: Report, truth: Sequence[Truth]) -> Iterator[str]:
    """The reported medians of TTFT and TPOT and the true ones of the server, a line each."""
    measured = truth[report.counts.warmup :]
    ttft = [(request.chunk_ns[0] - request.received_ns) / _MS for request in measured if request.chunk_ns]
    tpot = [
        (request.chunk_ns[-1] - request.chunk_ns[0]) / (request.tokens - 1) / _MS
        for request in measured
        if request.tokens > 1 and request.chunk_ns
    ]
    for name, reported, true_ms in (("TTFT", report.ttft_ms, ttft), ("TPOT", report.tpot_ms, tpot)):
        yield _line(name, reported, median(true_ms))


def _line(name: str, reported: Any, true: float) -> str:
    p50 = reported.p50 if reported is not None else float("nan")
    return f"    {name}   reported {p50:8.3f}   true {true:8.3f}   difference {p50 - true:+.3f}"
