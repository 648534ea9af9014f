"""`loadgen audit output-caching`: whether an endpoint answers from a cache of answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.resume_settings import ResumeSettings
    from cli.series.options import Secrets
    from cli.series.series import Series

AUDIT: Final = "Audit"

REPLACED: Final = frozenset(
    {
        *("rate", "arrival", "burstiness", "stages", "trace", "trace_speed", "think", "schedule_seed"),
        *("max_concurrency", "sessions", "passes", "duration", "stop_on_overload", "steady"),
        *("order", "weight_column", "only_prompt", "conversations", "turns", "history"),
        *("task", "data", "samples", "offset", "repeats", "columns", "scorer", "eval_function"),
        *("allow_code_execution", "pass_threshold", "judge_url", "judge_model", "judge_api_key"),
        *("judge_concurrency", "judge_timeout"),
        *("require", "ruleset", "scenario", "skip", "abort_on_fail", "inconclusive", "gpus"),
    }
)
"""Options of `loadgen perf` that an audit does not take: it asks as fast as the endpoint answers, so many
requests, in an order of its own, and has a rule of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditSettings:
    """What can be said to `loadgen audit output-caching` beside what `loadgen perf` takes."""

    requests: Annotated[
        int | None,
        typer.Option(
            "--requests",
            "-n",
            help="Requests of the reference phase, each of another prompt. Default: each prompt once "
            "(synthetic: 100).",
            rich_help_panel=AUDIT,
        ),
    ] = None
    audit_requests: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Requests of the phase that repeats one prompt. Default: as many.",
            show_default=False,
            rich_help_panel=AUDIT,
        ),
    ] = None
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", help="The prompt that is repeated, the first being 0.", rich_help_panel=AUDIT
        ),
    ] = 0
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="By so much less may complete, and the repeated prompt be faster. Default: 0.1; 0.2 with "
            "--concurrency 1.",
            show_default=False,
            rich_help_panel=AUDIT,
        ),
    ] = None
    cooldown: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="The pause between the phases.",
            show_default="0",
            rich_help_panel=AUDIT,
        ),
    ] = 0.0
    out: Annotated[
        Path | None,
        typer.Option(help="The folder of both runs; runs/<time>-audit by default.", rich_help_panel=AUDIT),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print the audit's JSON.", rich_help_panel=AUDIT)] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=AUDIT)] = False

    def __post_init__(self) -> None:
        for option, number in (("--requests", self.requests), ("--audit-requests", self.audit_requests)):
            if number is not None and number < 1:
                raise UsageError(f"{option} {number}: must be 1 or more")
        if self.sample < 0:
            raise UsageError(f"--sample {self.sample}: must be 0 or more")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise UsageError(f"--threshold {self.threshold:g}: must be between 0 and 1")


def output_caching(settings: AuditSettings, perf: Mapping[str, Any]) -> None:
    """See whether an endpoint answers a repeated prompt from a cache of answers (MLPerf's TEST04).

    The reference phase asks prompts that differ, the next one repeats one of them. The audit is passed where
    both completed, and the second was not faster by the threshold; exit 1 where not, 4 where a phase is
    invalid. The prompts must be new to the server: a cache that knows them is not found. Each phase is a run
    of its own; [bold]loadgen resume FOLDER[/bold] goes on with an audit that was interrupted. The result is
    in audit/ of the folder, for [bold]loadgen gate --audit FOLDER[/bold].

    [bold]Examples[/bold]

    loadgen audit output-caching --url $URL --model llama --prompts prompts.jsonl -c 32 -n 1000

    loadgen audit output-caching --url $URL --model llama -c 32 --salt
    """
    from cli.auditing.phases import phases, threshold_of
    from cli.series.options import Secrets, check
    from cli.series.series import Kind, Series, new_series_folder

    secrets = Secrets(perf["api_key"], tuple(perf["header"]))
    points = phases(settings, perf)
    folder = new_series_folder(settings.out, "audit")
    definition = {"test": "output_caching", "threshold": threshold_of(settings, perf)}
    check(points, lambda _: secrets)
    series = Series(Kind.AUDIT, definition, points, settings.cooldown)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet)


def resume_audit(folder: Path, series: Series, given: ResumeSettings) -> None:
    """Run the phases of an audit that have not been run to their end."""
    from cli.series.options import Secrets, check

    secrets = Secrets(given.api_key, tuple(given.header))
    check(series.points, lambda _: secrets)
    _conduct(folder, series, secrets, json=given.json, quiet=given.quiet)


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool) -> None:
    import sys

    from cli.auditing.result import conclude, withdraw
    from cli.errors import printable
    from cli.series.running import run_series

    withdraw(folder)
    ended = run_series(folder, series, lambda _: secrets, quiet=quiet)
    if ended.interrupted:
        raise typer.Exit(ended.exit_code)
    code = conclude(folder, ended.outcomes, series.definition["threshold"], json=json)
    if not quiet:
        print(f"\nThe audit is in {printable(str(folder))}", file=sys.stderr)
    raise typer.Exit(code)
