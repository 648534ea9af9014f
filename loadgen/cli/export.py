"""`loadgen export`: a run as files for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from loadgen.sessions.exporting.bundle import Bundle
    from loadgen.sessions.exporting.exported import Exported
    from loadgen.sessions.settings.export import ExportSettings


def export(settings: ExportSettings) -> None:
    """Write a run in files that other programs read, one format per command (docs/export.md).

    [bold]--mlperf-endpoints[/bold] writes a run, or the points of a sweep, as MLPerf's submission checkers
    read them. Only files of an earlier export are overwritten, unless [bold]--force[/bold] is given. What
    a submission needs in addition is listed, also in export.json. Exit 4 when a run is invalid; its files are
    written all the same.

    [bold]Examples[/bold]

    loadgen export RUN --samples results.jsonl

    loadgen export RUN --perfetto run.json.gz

    loadgen export RUN --mlperf-endpoints closed/us/results/box/llama3.1-8b/Server --audit AUDIT

    loadgen export SWEEP --mlperf-endpoints submission --about system.yaml --tokenizer org/model
    """
    from loadgen.sessions.exporting.formats import MLPERF, chosen, write

    name = chosen(settings)
    if name == MLPERF:
        _export_mlperf(settings)
    else:
        _say(write(settings, name), as_json=settings.json)


def _export_mlperf(settings: ExportSettings) -> None:
    from loadgen.sessions.exporting.bundle import write_bundle
    from loadgen.sessions.exporting.options import require_fitting_options
    from loadgen.sessions.files.series_file import is_series
    from loadgen.sessions.settings.tokenizer import load

    folder, of_series = settings.mlperf_endpoints, is_series(settings.run)
    assert folder is not None  # noqa: S101 (the format that was chosen)
    require_fitting_options(settings, of_series=of_series)
    tokenizer = load(settings.tokenizer)
    if of_series:
        from loadgen.sessions.exporting.curve import bundle_of as curve

        bundle = curve(settings, tokenizer)
    else:
        from loadgen.sessions.mlperf_scenario import bundle_of as scenario

        bundle = scenario(settings, tokenizer)
    write_bundle(folder, bundle, force=settings.force)
    _tell(folder, bundle, as_json=settings.json)
    if bundle.invalid:
        raise typer.Exit(ExitCode.INVALID)


def _tell(folder: Path, bundle: Bundle, *, as_json: bool) -> None:
    from loadgen.sessions.errors import printable

    if as_json:
        from loadgen.sessions.exporting.bundle import MANIFEST

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


def _say(exported: Exported, *, as_json: bool) -> None:
    from loadgen.sessions.errors import printable
    from reporter.number_text import counted

    if exported.text is not None:
        sys.stdout.write(exported.text)
    elif as_json:
        import orjson

        sys.stdout.write(orjson.dumps(exported.to_dict()).decode() + "\n")
    else:
        done = "sent" if exported.place in {"url", "tracker"} else "written"
        print(f"{counted(exported.rows, exported.unit)} {done} to {printable(exported.target)}")
