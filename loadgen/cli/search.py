"""`loadgen search`: the highest rate, or number of users, that meets the requirements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.settings.resume import ResumeSettings
    from loadgen.sessions.settings.search import SearchSettings


def search(settings: SearchSettings, perf: Mapping[str, Any]) -> None:
    """Find the highest rate, or number of users, that meets every requirement.

    Short trials bracket it; longer ones, repeated while chance could explain their verdict, narrow it down.
    An endpoint that falls behind the rate has missed, whatever its latencies are. Each trial is a run of its
    own, in one folder; [bold]loadgen resume FOLDER[/bold] continues an interrupted search. Exit 0
    when it was found, or is above the range; 1 when even the lowest load fails; 4 when the client was the
    limit; 5 when it is not clear.

    [bold]Examples[/bold]

    loadgen search --url $URL --model llama --require 'ttft:p(99)<2s' --require 'tpot:p(99)<80ms'

    loadgen search --url $URL --model llama --require 'latency:p(95)<10s' --concurrency 1..256 --json
    """
    from loadgen.sessions.series.search.run_search import new_search

    _conduct(*new_search(settings, perf), json=settings.json, quiet=settings.quiet, live=not perf["no_live"])


def resume_search(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Continue a search with the whole budget."""
    from loadgen.sessions.series.point_options import Secrets

    secrets = Secrets(settings.api_key, tuple(settings.header), settings.judge_api_key)
    _conduct(folder, series, secrets, json=settings.json, quiet=settings.quiet, live=not settings.no_live)


def _conduct(folder: Path, series: Series, secrets: Secrets, *, json: bool, quiet: bool, live: bool) -> None:
    import sys

    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.errors import printable
    from loadgen.sessions.series.search.run_search import RESULT, run_search

    result = run_search(folder, series, secrets, Terminal(quiet=quiet, live=live))
    if json:
        sys.stdout.write((folder / RESULT).read_text())
    else:
        from loadgen.cli.terminal.series_table import search_table
        from loadgen.cli.terminal.show import page

        print(search_table(result, **page()), end="")
    if not quiet:
        print(f"\nThe search is in {printable(str(folder))}", file=sys.stderr)
    raise SystemExit(result.exit_code)
