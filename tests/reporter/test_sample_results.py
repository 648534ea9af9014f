"""Per-sample results as files: what each row says, in every format."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import duckdb
import orjson
import pytest

from reporter import MetricsReporter
from reporter.costs import read_prices
from reporter.errors import OptionError
from reporter.log.query import query
from reporter.sample_results import FORMATS, METRICS, ResultOptions
from rulesets.definitions import Definitions
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PRICES = """
schema: prices/1
source: a test
date: 2026-01-01
models:
  - {model: example/small, input: 1.0, output: 2.0}
"""


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Three questions, one of which failed, scored by the benchmark's own scorer and by another."""
    folder = tmp_path / "scored"
    folder.mkdir()
    begun = Run(folder).begins()
    begun.settings["model"] = "example/small"
    run = Benchmark(begun).asks("gsm8k", 3).answers(0, tokens=5).answers(1, tokens=5).fails(2)
    return run.scored(0.5, 1, scorer="other").scored(1, 0, metrics=lambda number: {"steps": number}).write()


def results(run: Path, name: str = "results.jsonl", **options: Any) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    path = run / name
    with MetricsReporter(run) as reporter:
        count = reporter.dump_results(path, options=ResultOptions(**options))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert len(rows) == count
    return rows


def test_a_row_has_everything_about_a_request(scored: Path) -> None:
    """The official score has separate columns, every score is in `scores`; failures have columns too."""
    right, wrong, failed = results(scored)
    assert (right["task"], right["question_id"], right["attempt"]) == ("gsm8k", "question 0", 1)
    assert (right["scorer"], right["score"], right["passed"]) == ("official", 1.0, True)
    assert (wrong["score"], wrong["passed"], wrong["scores"]["other"]["value"]) == (0.0, False, 1.0)
    assert wrong["scores"]["official"]["metrics"] == {"steps": 1.0}
    assert wrong["scores"]["official"]["details"] == {}
    assert (failed["status"], failed["error"], failed["score"], failed["score_status"]) == (
        *("failed", "reset"),
        *(0.0, "missing"),
    )
    assert failed["latency_ms"] is None


def test_the_figures_are_those_of_sql(scored: Path) -> None:
    """Latencies and tokens are those of `samples`; rates follow from them."""
    assert {"decode_ms", "generation_tps", "prompt_tps", "ttft_ms", "latency_ms"} <= {*METRICS}
    answer = query(scored, f"SELECT sample_uuid, output_tokens, {', '.join(METRICS)} FROM samples")  # noqa: S608
    rows_of_view = {row[0]: row[1:] for row in answer.rows}
    for row in results(scored):
        tokens, *figures = rows_of_view[row["sample_uuid"]]
        assert [row[name] for name in METRICS] == figures
        if row["status"] == "completed":
            assert None not in (row["decode_ms"], row["generation_tps"], row["prompt_tps"])
            assert row["output_tps"] == pytest.approx(tokens / row["latency_ms"] * 1e3)


@pytest.mark.slow
def test_speeds_follow_the_definition_of_tpot(scored: Path) -> None:
    """Where TPOT ends with the response and divides by all tokens, the generation speed does as well."""
    row, *_ = results(scored)
    definitions = Definitions(tpot_end="complete", tpot_denominator="n")
    with MetricsReporter(scored) as reporter:
        reporter.dump_results(scored / "other.jsonl", definitions=definitions)
    other = orjson.loads((scored / "other.jsonl").read_bytes().splitlines()[0])
    assert other["generation_tps"] == pytest.approx(1e3 / other["tpot_ms"])
    assert other["generation_tps"] != pytest.approx(row["generation_tps"])


@pytest.mark.slow
def test_the_cost_of_each_request(scored: Path, tmp_path: Path) -> None:
    """By the table of prices; without one it is null, and a model without a price is an error."""
    table = tmp_path / "prices.yaml"
    table.write_text(PRICES)
    prices = read_prices(table)
    rows = results(scored, prices=prices)
    assert rows[0]["cost_usd"] == pytest.approx((10 * 1.0 + 5 * 2.0) / 1e6)
    assert results(scored)[0]["cost_usd"] is None
    table.write_text(PRICES.replace("example/small", "other"))
    with pytest.raises(OptionError, match="no price for the model example/small"):
        results(scored, prices=read_prices(table))


@pytest.mark.slow
def test_the_scores_of_any_pass(scored: Path) -> None:
    """The first pass had another scorer; one that there is not is an error."""
    assert [row["scorer"] for row in results(scored, scoring_pass=1)] == ["other"] * 3
    with pytest.raises(OptionError, match="no scoring pass 9"):
        results(scored, scoring_pass=9)


@pytest.mark.slow
def test_every_format_has_the_same_rows(scored: Path, tmp_path: Path) -> None:
    """Parquet keeps the types, CSV has nested values as JSON."""
    rows = results(scored)
    with MetricsReporter(scored) as reporter:
        for ending in FORMATS:
            assert reporter.dump_results(tmp_path / f"results{ending}") == len(rows)
    with (tmp_path / "results.csv").open(newline="") as file:
        flat = list(csv.DictReader(file))
    assert [row["sample_uuid"] for row in flat] == [row["sample_uuid"] for row in rows]
    assert list(flat[0]) == list(rows[0])
    assert orjson.loads(flat[0]["scores"]) == rows[0]["scores"]
    with duckdb.connect() as connection:
        stored = connection.read_parquet(str(tmp_path / "results.parquet"))
        columns = stored.project("sample_uuid, scores['other'].value").fetchall()
    assert columns == [(row["sample_uuid"], row["scores"]["other"]["value"]) for row in rows]


def test_a_run_without_a_benchmark(a_run: Callable[..., Run]) -> None:
    """Its rows have latencies, and no scores; the texts can be left out."""
    folder = a_run().answers(5, 7).answers(5, 8).ends().write()
    rows = results(folder, texts=False)
    assert [row["latency_ms"] for row in rows] == [7, 8]
    assert {row["score"] for row in rows} == {None}
    assert not {"prompt", "output", "reference"} & set(rows[0])


@pytest.mark.slow
def test_no_cell_of_a_spreadsheet_is_a_formula(scored: Path, tmp_path: Path) -> None:
    """A text that a spreadsheet would calculate gets an apostrophe, unless it is wanted raw."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(scored / "events.db")) as log, log:
        log.execute("UPDATE events SET data = replace(data, 'question 0', '=1+1') WHERE code = 8")
    for raw, expected in ((False, "'=1+1"), (True, "=1+1")):
        path = tmp_path / f"raw-{raw}.csv"
        with MetricsReporter(scored) as reporter:
            reporter.dump_results(path, options=ResultOptions(raw=raw))
        with path.open(newline="") as file:
            assert next(csv.DictReader(file))["question_id"] == expected


def test_an_unknown_format_writes_nothing(scored: Path, tmp_path: Path) -> None:
    """The message names the formats."""
    with MetricsReporter(scored) as reporter, pytest.raises(OptionError, match=r"\.jsonl, .*\.parquet"):
        reporter.dump_results(tmp_path / "results.xlsx")
    assert not list(tmp_path.glob("results*"))


def test_a_folder_that_cannot_be_written_to(scored: Path, tmp_path: Path) -> None:
    """The error of the file system is passed on, and nothing is left behind."""
    (tmp_path / "file").touch()
    with MetricsReporter(scored) as reporter, pytest.raises(OSError, match="Not a directory"):
        reporter.dump_results(tmp_path / "file" / "results.csv")
