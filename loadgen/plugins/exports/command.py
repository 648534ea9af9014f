"""`loadgen export`: a run as files for other programs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from loadgen.plugins.exports.exported import Exported
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
    from loadgen.plugins.exports.export_formats import chosen, write

    exported = write(settings, chosen(settings))
    _say(exported, as_json=settings.json)
    if exported.invalid:
        raise SystemExit(ExitCode.INVALID)


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
