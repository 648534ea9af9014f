"""Which options of an export go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from loadgen.sessions.settings.export import ExportSettings


def require_of_samples(settings: ExportSettings, *, of_series: bool) -> None:
    """Refuse options of the MLPerf export, and a series."""
    unused = {
        "--mlperf-endpoints": settings.mlperf_endpoints,
        "--ruleset": settings.ruleset,
        "--accuracy": settings.accuracy,
        "--audit": settings.audit,
        "--about": settings.about,
    }
    for option, value in unused.items():
        if value is not None:
            raise UsageError(f"{option} cannot be combined with --samples: leave one of them out")
    if of_series:
        raise UsageError(f"--samples: {settings.run} is a series of runs; export each of its runs")


def require_of_mlperf(settings: ExportSettings) -> None:
    """Refuse options of `--samples`."""
    unused = {
        "--prices": settings.prices,
        "--pass": settings.scoring_pass,
        "--raw": settings.raw or None,
        "--no-texts": None if settings.texts else True,
    }
    for option, value in unused.items():
        if value is not None:
            raise UsageError(f"{option} applies only to --samples FILE: leave it out")


def require_meant(settings: ExportSettings, *, of_series: bool) -> None:
    """Refuse an option that the other kind of export takes."""
    if of_series:
        unused = {"--audit": settings.audit}
        instead = "is of one run, and this is a series: leave it out, or export a run"
    else:
        unused = {"--about": settings.about}
        instead = "is of the points of a sweep, and this is a run: leave it out"
    for option, value in unused.items():
        if value is not None:
            raise UsageError(f"{option} {instead}")
