"""Runs that were scored: reported pass by pass, gated by their own scores, or by those of another run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.report import report
from loadgen.plugins.mlperf.scenario_folder import headlines
from loadgen.sessions.error_exit_codes import exit_code
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.given_inputs import scores_of
from reporter.errors import OptionError
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Gate = Callable[..., tuple[int, Any]]


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """A run of three questions, scored twice: 2 of 3, then 1 of 3."""
    folder = tmp_path / "scored"
    folder.mkdir()
    run = Benchmark(Run(folder).begins()).asks("gsm8k", 3)
    for question in range(3):
        run.answers(question, tokens=2)
    return run.scored(1, 1, 0).scored(1, 0, 0).write()


def accuracy_of(folder: Path) -> list[dict[str, Any]]:
    """The scores of report.json."""
    accuracy: list[dict[str, Any]] = orjson.loads((folder / "report.json").read_bytes())["accuracy"]
    return accuracy


@pytest.mark.slow
def test_any_pass_can_be_reported(scored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last one is in report.json, and stays there when an earlier one is shown."""
    report(scored)
    assert "33.33 %" in capsys.readouterr().out
    report(scored, json=True, scoring_pass=1)
    assert [score["value"] for score in orjson.loads(capsys.readouterr().out)["accuracy"]] == [0.666667]
    assert [score["pass"] for score in accuracy_of(scored)] == [2]
    with pytest.raises(OptionError, match="no scoring pass 3: there are 1, 2") as error:
        report(scored, scoring_pass=3)
    assert exit_code(error.value) == 2


def test_a_run_is_gated_by_its_own_scores(judged: Gate, scored: Path) -> None:
    """They do not have to be given: they are in its log."""
    rules = {
        "accuracy.gsm8k:value>=0.3": "PASS",
        "accuracy.gsm8k.accuracy>=0.4": "FAIL",
        "accuracy.mmlu>=0.4": "FAIL",
        "accuracy.gsm8k.official>=0.3@lcl95-wilson": "INCONCLUSIVE",
    }
    code, verdict = judged(scored, require=list(rules))
    assert code == 1
    assert [row["status"] for row in verdict["rows"]] == list(rules.values())
    assert (verdict["rows"][0]["observed"], verdict["rows"][0]["n"]) == (pytest.approx(1 / 3), 3)


def test_a_run_is_gated_by_the_scores_of_another(
    judged: Gate, scored: Path, a_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of its report.json, by all of their names; an export has each of them once."""
    report(scored)
    capsys.readouterr()
    names = ("gsm8k", "gsm8k.accuracy", "gsm8k.official.accuracy")
    assert judged(a_run, require=[f"accuracy.{name}>=0.3" for name in names], accuracy=scored)[0] == 0
    once = headlines(scores_of(scored))
    assert set(once) == {"gsm8k"}


@pytest.mark.parametrize("content", ['{"accuracy": [1]}', '{"accuracy": [{"task": "gsm8k"}]}'])
def test_scores_of_another_version_are_refused(tmp_path: Path, content: str) -> None:
    """With what to do about it."""
    path = tmp_path / "report.json"
    path.write_text(content)
    with pytest.raises(UsageError, match="loadgen report RUN"):
        scores_of(path)


def test_what_waits_for_a_judge_never_passes(judged: Gate, tmp_path: Path) -> None:
    """Neither does what was not scored: both are inconclusive, with what to do."""
    for number, values in enumerate(((), (1, "judge_pending"))):
        folder = tmp_path / f"run {number}"
        folder.mkdir()
        run = Benchmark(Run(folder).begins()).asks("gsm8k", 2).answers(0).answers(1)
        folder = (run.scored(*values) if values else run).write()
        code, verdict = judged(folder, require=["accuracy.gsm8k>=0.5"])
        assert (code, verdict["status"]) == (5, "INCONCLUSIVE")
        assert "loadgen score RUN" in verdict["rows"][0]["remedy"]
