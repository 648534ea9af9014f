"""The summary of a suite: scores, the verdict of what was required, and what its figures do not tell."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import orjson
import pytest

from loadgen.cli.run import run
from loadgen.cli.terminal.series_table import table
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.sessions.files.series_file import SeriesPoint
from loadgen.sessions.series.suite.summary import required, sentence, verdict
from loadgen.sessions.series_outcome import PointOutcome
from loadgen.sessions.settings.run import RunSettings
from reporter.report import Finding, Validity
from rulesets.verdict import Verdict, VerdictRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.report import Report
    from rulesets.verdict import Status

QUESTIONS = """\
{"user_prompt": "2 + 2?", "ground_truth": "4"}
{"user_prompt": "2 + 3?", "ground_truth": "5"}
{"user_prompt": "2 + 4?", "ground_truth": "6"}
"""
SUITE = """\
[defaults]
url = "{url}"
workers = 1
on_invalid = "warn"
[[models]]
name = "a"
[[benchmarks]]
name = "sums"
task = "sums.jsonl"
[[benchmarks]]
name = "both"
task = ["sums.jsonl", "more.jsonl"]
repeats = 2
"""
WIDTH = 80


@pytest.fixture(scope="module")
def endpoint() -> Iterator[MockProcess]:
    """A quick mock endpoint that knows one model."""
    with start_mock(models=("a",), ttft="2ms", itl="1ms", tokens="2") as server:
        yield server


@pytest.mark.slow
def test_a_suite_of_benchmarks_shows_its_scores(
    endpoint: MockProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its table, a row each; in summary.json and summary.csv; and in JUnit XML, with interval and n."""
    for name in ("sums", "more"):
        (tmp_path / f"{name}.jsonl").write_text(QUESTIONS)
    (tmp_path / "suite.toml").write_text(SUITE.format(url=endpoint.url))
    folder = tmp_path / "done"
    with pytest.raises(SystemExit):
        run(RunSettings(suite=tmp_path / "suite.toml", out=folder, quiet=True))
    out = capsys.readouterr().out
    assert [line.split()[-1] for line in out.splitlines() if ".jsonl, exact" in line] == ["3", "6", "6"]
    assert "scored by" in out
    summary = orjson.loads((folder / "summary.json").read_bytes())
    assert [[(score["name"], score["n"]) for score in point["scores"]] for point in summary["points"]] == [
        [("sums.jsonl, exact", 3)],
        [("sums.jsonl, exact", 6), ("more.jsonl, exact", 6)],
    ]
    score = summary["points"][0]["scores"][0]
    assert (score["value"], score["unit"], score["unscored"]) == (0.0, "share", 0)
    assert score["low"] == 0.0 < score["high"] < 1
    with (folder / "summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score.sums.jsonl, exact.n"] for row in rows] == ["3", "6"]
    assert [row["score.more.jsonl, exact"] for row in rows] == ["", "0.0"]
    suites = ET.parse(folder / "junit.xml").getroot()  # noqa: S314 (our own file)
    cases = [case.findtext("system-out") or "" for case in suites.iter("testcase")]
    assert sum("(95 % interval [0.00, " in case and ", n = " in case for case in cases) >= 3
    named = {property_.get("name"): property_.get("value") for property_ in suites.iter("property")}
    assert named["score.sums.jsonl, exact.n"] == "6"


def outcome(report: Report, name: str, status: Status | None, code: int, **changes: Any) -> PointOutcome:
    """A run of a suite, with a verdict."""
    row = VerdictRow(
        "target.error", "error<1%", None, None, "", 0, status or "PASS", "fail", None, "", "target"
    )
    judged = None if status is None else Verdict(row.status, "", "", rows=(row,))
    changed = replace(report, verdict=judged, **changes)
    axes = {"model": "a-model-with-a-long-name", "benchmark": "long-answers", "load": "one-by-one"}
    return PointOutcome(0, SeriesPoint(name, axes, {}), Path(name), changed, code)


@pytest.mark.parametrize(
    ("codes", "whole", "text"),
    [
        (((None, 0), (None, 0)), None, "Nothing was required: 2 valid"),
        ((("PASS", 0), ("PASS", 0)), "PASS", "PASS: 2 pass (required: error<1%)"),
        ((("PASS", 0), ("FAIL", 1)), "FAIL", "FAIL: 1 pass, 1 missed (required: error<1%)"),
        ((("FAIL", 1), ("INVALID", 4)), "INVALID", "INVALID: 1 missed, 1 invalid (required: error<1%)"),
        (
            (("PASS", 0), ("INCONCLUSIVE", 5)),
            "INCONCLUSIVE",
            "INCONCLUSIVE: 1 pass, 1 unclear (req",
        ),
    ],
)
def test_the_verdict_of_all_runs_is_one_sentence(
    made_report: Report, codes: Any, whole: str | None, text: str
) -> None:
    """The most severe status, the number of each, and what was required."""
    outcomes = [outcome(made_report, f"run {n}", status, code) for n, (status, code) in enumerate(codes)]
    assert verdict(outcomes) == whole
    assert sentence(outcomes).startswith(text)
    assert required(outcomes) == ([] if whole is None else ["error<1%"])


def test_a_table_fits_a_terminal_and_each_heading_is_of_one_column(made_report: Report) -> None:
    """Of 80 columns; reasons, and findings about the figures, are below."""
    short = Finding("too_short", "warning", "25 req/s completed of 40 wanted.", "Measure for 5 s.")
    missed = outcome(made_report, "first", "FAIL", 1, findings=[short])
    late = Validity(valid=False, reasons=["client_late!"])
    invalid = outcome(made_report, "second", None, 4, validity=late)
    lines = table([missed, invalid], width=WIDTH).splitlines()
    assert max(map(len, lines)) <= WIDTH
    above, below = lines[0], lines[1]
    titles = [
        (above[column - 6 : column + 6].strip(), column)
        for column in range(len(below))
        if below.startswith("p", column)
    ]
    assert len(
        {f"{above[column : column + 6].strip()} {below[column : column + 6]}" for _, column in titles}
    ) == len(titles)
    text = " ".join(" ".join(lines).split())
    assert "too_short in first: 25 req/s completed of 40 wanted. Measure for 5 s." in text
    assert "second: invalid: client_late!" in text
