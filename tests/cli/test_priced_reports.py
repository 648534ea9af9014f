"""`--prices` and `--stats`: what a scored run costs, and how its parts scored."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from loadgen.cli.accuracy import accuracy
from loadgen.cli.report import report
from loadgen.cli.score import score
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.perf import stored_options
from loadgen.sessions.settings.score import ScoreSettings
from reporter.errors import PriceError
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import Run

PRICES = Path(__file__).parents[2] / "examples" / "prices.yaml"


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """A run of three questions of two levels, two of them answered rightly."""
    folder = tmp_path / "scored"
    folder.mkdir()
    begun = Run(folder).begins()
    begun.settings["model"] = "example/small"
    run = Benchmark(begun).asks(
        "tool_selection", 3, tags=lambda n: {"level": ("simple", "edge")[n % 2]}, groups=["level"]
    )
    for question in range(3):
        run.answers(question, task="tool_selection", tokens=100)
    return run.scored(1, 0, 1).write()


@pytest.mark.slow
def test_a_report_with_prices(scored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has the cost, and so has report.json, until a report without prices is made."""
    report(scored, prices=PRICES)
    assert "per correct answer (2 correct)" in capsys.readouterr().out
    cost = orjson.loads((scored / "report.json").read_bytes())["cost"]
    assert cost["total"] == pytest.approx(3 * (10 * 0.2 + 100 * 0.8) / 1e6, abs=1e-9)
    report(scored)
    assert "Cost" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        score(ScoreSettings(run=scored, pass_number=1, prices=PRICES))
    assert "per correct answer (2 correct)" in capsys.readouterr().out


def test_prices_are_read_before_anybody_is_asked(tmp_path: Path, scored: Path) -> None:
    """A session, a pass and a report refuse a file that has none; the log keeps no path of it."""
    missing = tmp_path / "none.yaml"
    settings = from_flat(
        AccuracySettings,
        {"url": ["http://host.invalid"], "model": "m", "task": ["gsm8k"], "prices": missing},
    )
    assert "prices" not in stored_options(settings)
    with pytest.raises(PriceError, match="cannot be read"):
        accuracy(settings)
    with pytest.raises(PriceError, match="cannot be read"):
        score(ScoreSettings(run=scored, prices=missing))
    with pytest.raises(PriceError, match="cannot be read"):
        report(scored, prices=missing)


@pytest.mark.slow
def test_stats(scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The scores of each level; a run without tags has none."""
    report(scored, stats=True)
    output = capsys.readouterr().out
    assert "Accuracy by level: tool_selection" in output
    assert output.index("edge ") < output.rindex("simple ")
    folder = tmp_path / "plain"
    folder.mkdir()
    plain = Benchmark(Run(folder).begins()).asks("gsm8k", 1).answers(0).scored(1).write()
    with pytest.raises(UsageError, match="--stats: no benchmark of this run"):
        report(plain, stats=True)
    with pytest.raises(UsageError, match="leave --stats out"):
        report(scored, stats=True, json=True)
