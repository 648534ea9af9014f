"""The result of a sweep: names, warnings, the highest load that held, exit codes, and its page in `view`."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.terminal.series_table import sweep_tables
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.run_list import listed
from loadgen.sessions.series.outcomes_so_far import exit_code_of
from loadgen.sessions.series.overview import overview
from loadgen.sessions.series.series_gate import code_of_series
from loadgen.sessions.series.sweep.sweep_files import document, highest_held
from loadgen.sessions.series_outcome import PointOutcome, most_severe
from reporter.render import series_overview
from reporter.render.html import series_page as page
from reporter.render.named_verdict import NamedVerdict
from reporter.report import Finding, Validity
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from reporter.report import Report

WARNED = Finding(
    "cpu_contended", "warning", "CPU contention: a wait of 43 %.", "Keep off.", effects=["late_reads"]
)
OVERLOADED = Finding("overloaded", "error", "The queue grew. Much.", "Lower --rate.")
LIMITED = Finding("client_limited", "error", "The client limited the run.")


def ended(report: Report, *findings: Finding) -> Report:
    """A report with findings, and the validity that follows."""
    errors = [finding.message for finding in findings if finding.severity == "error"]
    validity = Validity(not errors, errors, overloaded=OVERLOADED in findings)
    return replace(report, findings=list(findings), validity=validity, verdict=None)


def series_of(*axes: dict[str, Any]) -> Series:
    """A sweep with these points."""
    names = ["-".join(f"{name}-{value}" for name, value in point.items()) for point in axes]
    return Series(
        SeriesKind.SWEEP,
        {"plot": False},
        tuple(SeriesPoint(name, point, {}) for name, point in zip(names, axes, strict=True)),
    )


def outcomes_of(series: Series, *reports: Report) -> list[PointOutcome]:
    """The outcomes of its points."""
    return [
        PointOutcome(number, point, folder_of(Path("sweep"), series, number), report, 0)
        for number, (point, report) in enumerate(zip(series.points, reports, strict=True))
    ]


def rates(report: Report) -> list[PointOutcome]:
    """Three rates: one held, one held with a warning, one was overloaded."""
    series = series_of({"rate": 10}, {"rate": 20}, {"rate": 40})
    return outcomes_of(series, ended(report), ended(report, WARNED), ended(report, OVERLOADED))


def test_the_highest_rate_that_held_comes_first(made_report: Report) -> None:
    """Before the fronts, in text, JSON and on the page, by the folder of its run."""
    outcomes = rates(made_report)
    sentence = "Highest rate that held: 20 req/s (02-rate-20); 40 was overloaded."
    text = " ".join(sweep_tables(outcomes).split())
    assert 0 < text.index(sentence) < text.index("Pareto front")
    [held] = document(Path("sweep"), outcomes)["held"]
    assert (held["axis"], held["load"], held["run"], held["above"]) == ("rate", 20, "02-rate-20", 40)
    series = series_of(*(dict(outcome.point.axes) for outcome in outcomes))
    assert overview(Path("sweep"), series, outcomes).conclusions[0] == sentence


def test_of_several_axes_each_combination_has_its_highest_load(made_report: Report) -> None:
    """Concurrency by the other axis; rules decide, where there are any."""
    missed = replace(ended(made_report), verdict=Verdict("FAIL", "", ""))
    passed = replace(ended(made_report), verdict=Verdict("PASS", "", ""))
    axes = [{"concurrency": c, "max-tokens": m} for c in (1, 2) for m in (8, 64)]
    outcomes = outcomes_of(series_of(*axes), passed, missed, passed, missed)
    assert [str(held) for held in highest_held(outcomes)] == [
        (
            "Highest concurrency that held, max-tokens 8: 2 (03-concurrency-2-max-tokens-8), the highest of "
            "the sweep."
        ),
        "No concurrency held, max-tokens 64; 1 missed a rule.",
    ]
    assert not list(highest_held(outcomes_of(series_of({"max-tokens": 8}), passed)))


def test_the_warnings_of_its_runs_are_visible(made_report: Report) -> None:
    """In the table, under it with their message, in CSV, in JSON and on the page."""
    outcomes = rates(made_report)
    text = " ".join(sweep_tables(outcomes).split())
    assert "cpu_contended in 02-rate-20: CPU contention: a wait of 43 %. Keep off." in text
    series = series_of(*(dict(outcome.point.axes) for outcome in outcomes))
    shown = overview(Path("sweep"), series, outcomes)
    rows = list(csv.DictReader(StringIO(series_overview.render_csv(shown))))
    assert [row["warnings"] for row in rows] == ["", "cpu_contended; late_reads", ""]
    assert document(Path("sweep"), outcomes)["points"][1]["warnings"] == ["cpu_contended", "late_reads"]
    written = page.render(shown)
    assert "<th>warnings" in written or ">warnings<" in written
    assert "cpu_contended, late_reads" in written


def test_a_heading_has_sorted_loads_and_what_all_runs_have(made_report: Report) -> None:
    """Figures as on the command line; a measured length that differs between runs leaves the rest."""
    longer = replace(made_report.output_tokens, mean=1e6) if made_report.output_tokens else None
    axes = [{"rate": 20.0}, {"rate": 5.0}]
    alike = series_overview.heading_lines([made_report, made_report], axes)
    unlike = series_overview.heading_lines([made_report, replace(made_report, output_tokens=longer)], axes)
    assert alike[1] == unlike[1] == "rate 5, 20"
    parts = alike[2].split(", ")
    assert unlike[2].split(", ") == [part for part in parts if not part.startswith("~")]
    assert len(parts) > len(unlike[2].split(", ")) > 0


def test_a_table_calls_runs_by_their_folders(made_report: Report) -> None:
    """On the terminal, on the page and in the sentences."""
    outcomes = rates(made_report)
    text = sweep_tables(outcomes)
    for outcome in outcomes:
        assert outcome.folder.name in text.split("Pareto")[0]
    assert "Pareto front, throughput against TTFT: 0" in text or "No Pareto front" in text


@pytest.mark.parametrize(
    ("findings", "verdict", "code"),
    [
        ([OVERLOADED], None, 0),
        ([OVERLOADED], Verdict("INVALID", "", "", reasons=("The queue grew.",)), 1),
        ([OVERLOADED, LIMITED], None, 4),
        ([LIMITED], None, 4),
        ([], None, 0),
    ],
)
def test_the_exit_code_of_a_point(
    made_report: Report, findings: list[Finding], verdict: Verdict | None, code: int
) -> None:
    """Overload alone is a result, and a missed rule where there are rules; a client's limit is 4."""
    report = replace(ended(made_report, *findings), verdict=verdict)
    assert exit_code_of(report, series_of({"rate": 10}), 0) == code
    outcomes = [PointOutcome(0, SeriesPoint("rate-10", {}, {}), Path("01"), report, code)]
    assert most_severe(outcomes) == code


@pytest.mark.parametrize(
    ("kind", "findings", "code"),
    [
        (SeriesKind.SWEEP, [OVERLOADED], 1),
        (SeriesKind.SUITE, [OVERLOADED], 4),
        (SeriesKind.SWEEP, [LIMITED], 4),
    ],
)
def test_the_gate_of_a_sweep_has_the_codes_of_the_sweep(
    tmp_path: Path, made_report: Report, kind: SeriesKind, findings: list[Finding], code: int
) -> None:
    """`loadgen gate FOLDER`: an overloaded point is a miss, another invalid one is invalid."""
    write(tmp_path, replace(series_of({"rate": 10}), kind=kind))
    report = ended(made_report, *findings)
    invalid = Verdict("INVALID", "", "", reasons=tuple(report.validity.reasons))
    part = NamedVerdict.of(replace(report, verdict=invalid), "rate-10")
    assert code_of_series(tmp_path, [part], "5") == code


def test_an_overloaded_run_is_shown_as_such_in_the_list(a_run: Path, made_report: Report) -> None:
    """`loadgen list runs`, from report.json."""
    report = ended(made_report, OVERLOADED).to_dict()
    (a_run / "report.json").write_bytes(orjson.dumps(report))
    [row] = listed(a_run.parent)
    assert (row.state, row.runs) == ("OVERLOADED", None)


def test_a_series_is_a_row_of_the_list(swept: Path) -> None:
    """Before its runs, with their number; a series with a missing run is incomplete."""
    rows = {row.folder: row for row in listed(swept.parent)}
    assert list(rows) == ["sweep", "sweep/01-concurrency-1", "sweep/02-concurrency-2"]
    series = rows["sweep"]
    assert (series.kind, series.load, series.state, series.runs) == ("sweep", "2 of 2 runs", "complete", 2)
    assert (series.requests, series.model) == (12, "small-model")
