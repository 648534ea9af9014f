"""`loadgen export --mlperf-endpoints`: a run, or the points of a sweep, in a submission's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.exports.exported import Exported
from loadgen.plugins.mlperf.bundle import MANIFEST, write_bundle
from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.files.series_file import is_series
from loadgen.sessions.settings.tokenizer_options import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.plugins.mlperf.bundle import Bundle
    from loadgen.sessions.settings.export import ExportSettings


def export(settings: ExportSettings, folder: Path) -> Exported:
    """Write the files, but never over files of others."""
    of_series = is_series(settings.run)
    require_fitting_options(settings, of_series=of_series)
    if of_series:
        from loadgen.plugins.mlperf.submitted_curve import bundle_of
    else:
        from loadgen.plugins.mlperf.scenario_folder import bundle_of
    bundle = bundle_of(settings, load(settings.tokenizer))
    write_bundle(folder, bundle, force=settings.force)
    text = (folder / MANIFEST).read_text() if settings.json else "".join(_lines(folder, bundle))
    return Exported(
        "folder", str(folder), len(bundle.files), unit="file", text=text, invalid=bool(bundle.invalid)
    )


def _lines(folder: Path, bundle: Bundle) -> Iterator[str]:
    for name in sorted(bundle.files):
        yield f"{printable(str(folder / name))}\n"
    for heading, lines in (
        ("The run is invalid", bundle.invalid),
        ("Not there, for a submission", bundle.missing),
    ):
        if lines:
            yield f"\n{heading}:\n"
            yield from (f"- {printable(line)}\n" for line in lines)


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
