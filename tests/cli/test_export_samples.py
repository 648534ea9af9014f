"""`loadgen export --samples`: the file, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.export import export
from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.series import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.settings.export import ExportSettings

if TYPE_CHECKING:
    from pathlib import Path


def test_the_results_of_a_run(made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a request, with the prompt and the output; never over another file."""
    file = tmp_path / "results.jsonl"
    export(ExportSettings(run=made_run, samples=file))
    rows = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert f"{len(rows)} requests written to {file}" in capsys.readouterr().out
    assert all(row["prompt"] and row["output"] and row["latency_ms"] > 0 for row in rows)
    with pytest.raises(UsageError, match="the file exists"):
        export(ExportSettings(run=made_run, samples=file))
    export(ExportSettings(run=made_run, samples=file, force=True, texts=False, json=True))
    assert orjson.loads(capsys.readouterr().out) == {"file": str(file), "rows": len(rows)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Nothing to export"),
        ({"samples": "s.csv", "ruleset": "chat"}, "--ruleset cannot be combined with --samples"),
        ({"samples": "none/s.csv"}, "there is no folder"),
        ({"mlperf_endpoints": "out", "raw": True}, "--raw applies only to --samples"),
        ({"mlperf_endpoints": "out", "texts": False}, "--no-texts applies only to --samples"),
        ({"mlperf_endpoints": "out", "scoring_pass": 1}, "--pass applies only to --samples"),
    ],
)
def test_what_cannot_be_combined(made_run: Path, tmp_path: Path, given: dict[str, Any], message: str) -> None:
    """Each is refused in one sentence."""
    paths = {name: tmp_path / given[name] for name in ("samples", "mlperf_endpoints") if name in given}
    with pytest.raises(UsageError, match=message):
        export(ExportSettings(run=made_run, **{**given, **paths}))


def test_a_series_is_refused(tmp_path: Path) -> None:
    """Its runs are exported one by one."""
    series = Series(SeriesKind.SWEEP, {"plot": False}, (SeriesPoint("one", {}, {}),))
    write(tmp_path / "sweep", series)
    folder_of(tmp_path / "sweep", series, 0).mkdir(parents=True)
    with pytest.raises(UsageError, match="export each of its runs"):
        export(ExportSettings(run=tmp_path / "sweep", samples=tmp_path / "s.csv"))
