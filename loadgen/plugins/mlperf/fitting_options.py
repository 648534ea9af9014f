"""Which options of the MLPerf export go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from loadgen.sessions.settings.export import ExportSettings


def require_fitting_options(settings: ExportSettings, *, of_series: bool) -> None:
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
