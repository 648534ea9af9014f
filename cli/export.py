"""`loadgen export`: a run in the files that another program reads."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import INVALID, UsageError
from cli.tokenizer import Tokenizer

if TYPE_CHECKING:
    from cli.exporting.bundle import Bundle


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportSettings:
    """What can be said to `loadgen export`; field by field an option."""

    run: Annotated[
        Path,
        typer.Argument(
            help="The run's folder, or its events.db; or the folder of a sweep.", show_default=False
        ),
    ]
    mlperf_endpoints: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Write what MLPerf's submission checkers read of a run of mlcommons/endpoints: of a run the "
            "folder of its scenario, of a sweep the points of its curve.",
            show_default=False,
        ),
    ]
    ruleset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Whose definitions figures are by. Default: mlperf-inference@v6.1; of a sweep "
            "mlperf-endpoints@v1.0.",
            show_default=False,
        ),
    ] = None
    tokenizer: Tokenizer = None
    accuracy: Annotated[
        Path | None,
        typer.Option(metavar="RUN|FILE", help="The run that was scored, or a JSON file of scores."),
    ] = None
    audit: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="What loadgen audit output-caching has left."),
    ] = None
    about: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of a sweep: a YAML or JSON file of what only the submitter knows: system, system_desc, "
            "system_power, point.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Write over whatever lies in the folder.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print export.json.")] = False


def export(settings: ExportSettings) -> None:
    """Write a run, or the points of a sweep, as MLPerf's submission checkers read them.

    Nothing is written over that an export has not written, unless [bold]--force[/bold] is given. What a
    submission needs besides is said, and stands in export.json. Exit 4 when a run is invalid; its files are
    written all the same.

    [bold]Examples[/bold]

    loadgen export RUN --mlperf-endpoints closed/us/results/box/llama3.1-8b/Server --audit AUDIT

    loadgen export SWEEP --mlperf-endpoints submission --about system.yaml --tokenizer org/model
    """
    from cli.exporting.bundle import lay
    from cli.series.series import is_series
    from cli.tokenizer import load

    of_series = is_series(settings.run)
    _require_meant(settings, of_series=of_series)
    tokenizer = load(settings.tokenizer)
    if of_series:
        from cli.exporting.curve import bundle_of as curve

        bundle = curve(settings, tokenizer)
    else:
        from cli.exporting.scenario import bundle_of as scenario

        bundle = scenario(settings, tokenizer)
    lay(settings.mlperf_endpoints, bundle, force=settings.force)
    _tell(settings, bundle)
    if bundle.invalid:
        raise typer.Exit(INVALID)


def _require_meant(settings: ExportSettings, *, of_series: bool) -> None:
    """Refuse an option that the other kind of export takes."""
    if of_series:
        unused = {"--accuracy": settings.accuracy, "--audit": settings.audit}
        instead = "is of one run, and this is a series: leave it out, or export a run"
    else:
        unused = {"--about": settings.about}
        instead = "is of the points of a sweep, and this is a run: leave it out"
    for option, value in unused.items():
        if value is not None:
            raise UsageError(f"{option} {instead}")


def _tell(settings: ExportSettings, bundle: Bundle) -> None:
    from cli.errors import printable

    folder = settings.mlperf_endpoints
    if settings.json:
        from cli.exporting.bundle import MANIFEST

        sys.stdout.write((folder / MANIFEST).read_text())
        return
    for name in sorted(bundle.files):
        print(printable(str(folder / name)))
    for heading, lines in (
        ("The run is invalid", bundle.invalid),
        ("Not there, for a submission", bundle.missing),
    ):
        if lines:
            print(f"\n{heading}:")
            print("\n".join(f"- {printable(line)}" for line in lines))
