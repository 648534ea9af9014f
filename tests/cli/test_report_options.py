"""Options that say what a report shows and what its figures mean, of `perf` and of `report`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.usefixtures("a_run")


@pytest.mark.slow
def test_percentiles_of_choice(loadgen: Loadgen) -> None:
    """On the console and in JSON; the method has its own option."""
    heading = next(
        line
        for line in loadgen("report", "run", "--percentiles", "50,75,99.9").stdout.splitlines()
        if line.startswith("milliseconds")
    )
    assert heading.split() == ["milliseconds", "mean", "p50", "p75", "p99.9", "max", "n"]
    report = orjson.loads(
        loadgen("report", "run", "--json", "--percentiles", "75", "--percentile-method", "lower").stdout
    )
    assert list(report["ttft_ms"]["percentiles"]) == ["p75"]
    assert report["run"]["percentile_method"] == "lower"


def test_a_method_is_still_taken_by_percentiles(loadgen: Loadgen) -> None:
    """As before, with a notice."""
    run = loadgen("report", "run", "--json", "--percentiles", "nearest_rank")
    assert run.stderr.startswith("note: --percentiles nearest_rank: the method is --percentile-method now")
    assert orjson.loads(run.stdout)["run"]["percentile_method"] == "nearest_rank"


def test_invalid_percentiles(loadgen: Loadgen) -> None:
    """A mistake in the command line, also of perf, before anything is sent."""
    for command in (("report", "run"), ("perf", "--url", "http://127.0.0.1:9", "--model", "m")):
        run = loadgen(*command, "--percentiles", "50,x")
        assert run.returncode == 2
        assert "'x' is not a percentile" in run.stderr


def test_the_origin_and_the_denominator(loadgen: Loadgen) -> None:
    """The report names its definitions, which change the figures."""
    usual = orjson.loads(loadgen("report", "run", "--json").stdout)
    other = orjson.loads(
        loadgen(
            *("report", "run", "--json", "--latency-origin", "issued"),
            *("--tpot-denominator", "n", "--tpot-end", "complete"),
        ).stdout
    )
    assert other["run"]["definitions"]["latency_origin"] == "issued"
    assert other["ttft_ms"]["mean"] > usual["ttft_ms"]["mean"]
    assert other["tpot_ms"]["mean"] != usual["tpot_ms"]["mean"]


@pytest.mark.slow
def test_a_run_keeps_what_its_figures_mean(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """Rules of the command line are evaluated by it, and so is every later report."""
    done = loadgen(
        *(
            "perf",
            "--url",
            mock.url,
            "--model",
            "small-model",
            "--api-key",
            "sk-right-key",
            "-n",
            "5",
            "--summary",
        ),
        *(
            "--latency-origin",
            "scheduled",
            "--require",
            "ttft:p(50)<10s",
            "--out",
            "other",
            "--percentiles",
            "10",
        ),
    )
    assert re.search(r"^milliseconds +mean +p10 +max +n$", done.stdout, re.MULTILINE)
    assert "Client health" not in done.stdout
    assert "Results saved to other. View again: " in done.stderr
    report = orjson.loads((tmp_path / "other" / "report.json").read_bytes())
    assert report["run"]["definitions"]["latency_origin"] == "scheduled"
    assert "from the scheduled time" in report["verdict"]["rows"][0]["method"]
    again = orjson.loads(loadgen("report", "other", "--json").stdout)
    assert again["run"]["definitions"]["latency_origin"] == "scheduled"


def test_a_ruleset_defines_its_own_figures(loadgen: Loadgen) -> None:
    """An option that contradicts it is refused before anything is sent."""
    run = loadgen(
        *("perf", "--url", "http://127.0.0.1:9", "--model", "m", "--ruleset", "chat"),
        *("--latency-origin", "sent"),
    )
    assert run.returncode == 2
    assert "--latency-origin: the ruleset chat has its own definition" in run.stderr


@pytest.mark.parametrize(("value", "code"), [("0", 0), ("pass", 0), ("1", 1), ("fail", 1), ("5", 5)])
def test_what_an_inconclusive_verdict_ends_with(loadgen: Loadgen, value: str, code: int) -> None:
    """By number or by word."""
    assert (
        loadgen("gate", "run", "--require", "ttft:p(99)<10s@es99", "--inconclusive", value).returncode == code
    )


@pytest.mark.slow
def test_a_page_is_written_to_a_file(loadgen: Loadgen, a_run: Path) -> None:
    """Whole, with plots and requests; nothing is printed."""
    written = loadgen("report", "run", "--format", "html", "-o", "pages/report.html")
    assert (written.returncode, written.stdout) == (0, ""), written.stderr
    html = (a_run.parent / "pages" / "report.html").read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert 'data-plot="ttft-cdf"' in html
    assert "Slowest requests" in html
    assert loadgen("report", "run", "--format", "html").stdout.startswith("<!DOCTYPE html>")


def test_a_log_is_not_overwritten_by_its_report(loadgen: Loadgen) -> None:
    """The log is the run."""
    refused = loadgen("report", "run", "-o", "run/events.db")
    assert refused.returncode == 2
    assert "never overwritten" in refused.stderr
