"""`loadgen export --vllm-json`: a run as a result file of `vllm bench serve` and SGLang's bench_serving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.exports.exported import Exported
from loadgen.plugins.exports.target_file import require_writable, writing

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.sessions.settings.export import ExportSettings


def write_result(settings: ExportSettings, file: Path) -> Exported:
    """Write the file.

    Raises:
        UsageError: It exists, or its folder does not.
        SetupError: It cannot be written.
        LogError: The run cannot be read.
    """
    from loadgen.plugins.exports.exported_report import report_of
    from loadgen.plugins.exports.render.vllm_results import TABLES, render
    from loadgen.plugins.exports.run_log import opened

    require_writable("--vllm-json", file, force=settings.force)
    report = report_of(settings)
    with opened(settings) as log, writing(file) as unfinished:
        log.load(TABLES if settings.texts else ())
        unfinished.writelines(render(log, report, texts=settings.texts))
    return Exported("file", str(file), report.counts.issued)
