"""`loadgen export --samples`: the file, and what is refused."""

from __future__ import annotations

import gzip
import shutil
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.plugins.exports.command import export
from loadgen.plugins.exports.samples import write_run_samples
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.observer import Observer
from loadgen.sessions.settings.export import ExportSettings
from reporter.costs import read_prices
from reporter.report_options import ReportOptions

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


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
    ("options", "message"),
    [
        ({}, "Nothing to export"),
        ({"samples": "s.csv", "ruleset": "chat"}, "--ruleset applies only to --mlperf-endpoints FOLDER"),
        ({"samples": "none/s.csv"}, "does not exist"),
        ({"mlperf_endpoints": "out", "raw": True}, "--raw applies only to --samples"),
        ({"mlperf_endpoints": "out", "texts": False}, "--no-texts applies only to --samples"),
        ({"mlperf_endpoints": "out", "scoring_pass": 1}, "--pass applies only to --samples"),
    ],
)
def test_what_cannot_be_combined(
    made_run: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    """Each is refused in one sentence."""
    paths = {name: tmp_path / options[name] for name in ("samples", "mlperf_endpoints") if name in options}
    with pytest.raises(UsageError, match=message):
        export(ExportSettings(run=made_run, **{**options, **paths}))


def test_a_series_is_refused(tmp_path: Path) -> None:
    """Its runs are exported one by one."""
    series = Series(SeriesKind.SWEEP, {"plot": False}, (SeriesPoint("one", {}, {}),))
    write(tmp_path / "sweep", series)
    folder_of(tmp_path / "sweep", series, 0).mkdir(parents=True)
    with pytest.raises(UsageError, match="export each of its runs"):
        export(ExportSettings(run=tmp_path / "sweep", samples=tmp_path / "s.csv"))


@pytest.mark.slow
def test_a_run_leaves_its_results_in_its_folder(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """In the format that `--sample-results` names, with what `loadgen export` would write."""
    endpoint = ("--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key")
    done = loadgen(
        "perf", *endpoint, "-n", 5, "--sample-results", "jsonl", "--on-invalid", "warn", "--out", "run"
    )
    assert done.returncode == 0, done.stderr
    export(ExportSettings(run=tmp_path / "run", samples=tmp_path / "exported.jsonl"))
    written = (tmp_path / "run" / "samples.jsonl").read_bytes()
    assert len(written.splitlines()) == 5
    assert (written == (tmp_path / "exported.jsonl").read_bytes()) is True


def test_results_that_cannot_be_written_end_no_run(made_run: Path, tmp_path: Path) -> None:
    """The log has them; a note says how to write them again. A model without a price has no cost."""
    notes = Notes()
    run = tmp_path / "run"
    shutil.copytree(made_run, run)
    (run / "samples.csv").mkdir()
    write_run_samples(run, run / "samples.csv", ReportOptions(), "small-model", notes)
    assert "loadgen export" in notes.texts[0]
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "{schema: prices/1, source: a test, date: 2026-01-01, models: [{model: other, input: 1, output: 1}]}"
    )
    options = ReportOptions(prices=read_prices(prices))
    write_run_samples(run, run / "samples.jsonl", options, "small-model", notes)
    assert len(notes.texts) == 1
    rows = (run / "samples.jsonl").read_bytes().splitlines()
    assert {orjson.loads(row)["cost_usd"] for row in rows} == {None}


class Notes(Observer):
    """Keeps what it is notified of."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str, *, apart: bool = False) -> None:
        """Keep a note."""
        del apart
        self.texts.append(text)


def test_a_trace_of_a_run(made_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whole events, the same content compressed, and never over another file."""
    plain, packed = tmp_path / "run.json", tmp_path / "run.json.gz"
    for file in (plain, packed):
        export(ExportSettings(run=made_run, perfetto=file))
        assert f"10 requests written to {file}" in capsys.readouterr().out
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    with pytest.raises(UsageError, match="the file exists"):
        export(ExportSettings(run=made_run, perfetto=plain))
    with pytest.raises(UsageError, match="is a folder; name a file"):
        export(ExportSettings(run=made_run, perfetto=tmp_path))
    with pytest.raises(UsageError, match="one format per command"):
        export(ExportSettings(run=made_run, perfetto=plain, samples=packed))
    with pytest.raises(UsageError, match="--no-texts applies only to --samples FILE"):
        export(ExportSettings(run=made_run, perfetto=plain, texts=False))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "run.json.gz"]
