"""`loadgen audit output-caching`: whether an endpoint answers from a cache of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.audit.output_caching import AuditResult
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.settings.audit import AuditSettings
    from loadgen.sessions.settings.resume import ResumeSettings


def output_caching(settings: AuditSettings, perf: Mapping[str, Any]) -> None:
    """Check whether an endpoint answers a repeated prompt from a cache of answers (MLPerf's TEST04).

    The reference phase issues different prompts, the next one repeats one of them. The audit passes if both
    complete and the second is not faster by the threshold; exit 1 if not, 4 if a phase is invalid. The
    prompts must be new to the server: a cache that knows them is not found. Each phase is a separate run;
    [bold]loadgen resume FOLDER[/bold] continues an interrupted audit. The result is in audit/ of the folder,
    for [bold]loadgen gate --audit FOLDER[/bold].

    [bold]Examples[/bold]

    loadgen audit output-caching --url $URL --model llama --prompts prompts.jsonl -c 32 -n 1000

    loadgen audit output-caching --url $URL --model llama -c 32 --salt
    """
    from loadgen.sessions.files.series_file import Series, SeriesKind, new_series_folder
    from loadgen.sessions.series.audit.output_caching import phases, threshold_of
    from loadgen.sessions.series.point_options import Secrets, check

    secrets = Secrets(perf["api_key"], tuple(perf["header"]))
    points = phases(settings, perf)
    folder = new_series_folder(settings.out, "audit")
    definition = {"test": "output_caching", "threshold": threshold_of(settings, perf)}
    check(points, lambda _: secrets)
    series = Series(SeriesKind.AUDIT, definition, points, settings.cooldown)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet, live=not perf["no_live"])


def resume_audit(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Run the phases of an audit that are not complete."""
    from loadgen.sessions.series.point_options import Secrets, check

    secrets = Secrets(settings.api_key, tuple(settings.header))
    check(series.points, lambda _: secrets)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet, live=not settings.no_live)


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool, live: bool) -> None:
    import sys

    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.errors import printable
    from loadgen.sessions.series.audit.output_caching import RECORD, conclude, withdraw
    from loadgen.sessions.series.run_series import run_series
    from rulesets.exit_codes import ExitCode

    withdraw(folder)
    terminal = Terminal(quiet=quiet, live=live)
    ended = run_series(folder, series, lambda _: secrets, observer=terminal)
    if ended.interrupted:
        raise SystemExit(ended.exit_code)
    audit = conclude(folder, ended.outcomes, series.definition["threshold"], terminal)
    if audit is not None:
        sys.stdout.write((folder / RECORD).read_text() if json else _shown(audit))
    if not quiet:
        print(f"\nThe audit is in {printable(str(folder))}", file=sys.stderr)
    raise SystemExit(ExitCode.INVALID if audit is None else ExitCode.PASS if audit.passed else ExitCode.FAIL)


def _shown(result: AuditResult) -> str:
    from loadgen.sessions.series.audit.output_caching import REFERENCE, REPEATED

    lines = [
        f"{name:<15} {phase.qps or 0:>12,.3f} req/s   {phase.completed:,} of {phase.requested:,} completed"
        for name, phase in ((REFERENCE, result.reference), (REPEATED, result.repeated))
    ]
    return "\n".join([*lines, f"\n{'PASS' if result.passed else 'FAIL'}: {result.reason}"]) + "\n"
