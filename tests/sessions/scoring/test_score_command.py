"""`loadgen score` on the command line: what it prints, what it refuses, how it ends."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.score import score
from loadgen.plugins.evals.grading.english import model
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.score import ScoreSettings
from reporter.errors import OptionError
from reporter.log.query import query
from workloads.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Path]


def test_it_scores_and_reports(new_run: NewRun, capsys: pytest.CaptureFixture[str]) -> None:
    """The accuracy, and which pass it is of; an earlier pass is reported without scoring anything."""
    task = {"task": "gsm8k", "name": "gsm8k", "version": 1, "first": 0, "count": 2}
    run = new_run(["#### 1", "#### 2"], accuracy={"tasks": [task]})
    for options, number in (({}, 1), ({}, 2), ({"pass_number": 1}, 1)):
        printed_text, report = printed(capsys, run, **options)
        assert printed_text == ("" if options else f"pass {number}: 2 scored\n")
        (scored,) = report["accuracy"]
        assert (scored["value"], scored["pass"]) == (0.5, number)
    assert orjson.loads((run / "report.json").read_bytes())["accuracy"][0]["pass"] == 2
    with pytest.raises(OptionError, match="pass 7"):
        score(ScoreSettings(run=run, pass_number=7))


def printed(capsys: pytest.CaptureFixture[str], run: Path, **options: Any) -> tuple[str, Any]:
    """What it says, and the report that it prints."""
    with pytest.raises(SystemExit):
        score(from_flat(ScoreSettings, {"run": run, "json": True, **options}))
    out, err = capsys.readouterr()
    return err, orjson.loads(out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pass_number": 1, "scorer": ["official"]}, "--pass 1 scores nothing: leave --scorer out"),
        ({"pass_number": 1, "reparse": True}, "leave --reparse out"),
        ({"reparse": True, "judge_url": "http://x", "judge_model": "m"}, "leave --judge-url out"),
        ({"judge_url": "http://x"}, "give --judge-model too"),
        ({"processes": 0}, "--processes 0: must be from 1"),
        ({"grader_timeout": 0.0}, "--grader-timeout 0: must be above 0"),
    ],
)
def test_contradictory_options_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError, match=message):
        score(from_flat(ScoreSettings, {"run": tmp_path, **options}))


def exit_code(run: Path, **options: Any) -> int:
    """With what it ends."""
    with pytest.raises(SystemExit) as end:
        score(from_flat(ScoreSettings, {"run": run, "json": True, "quiet": True, **options}))
    return end.value.code


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "code"), [(["raises"], 4), (["1", "raises"], 4), (["1", "2"], 0)])
def test_answers_without_a_score_have_a_separate_exit_code(
    new_run: NewRun,
    graders: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answers: list[str],
    code: int,
) -> None:
    """The score is then between two figures, or unknown, as a finding says."""
    monkeypatch.chdir(graders)
    row = {"task": "gsm8k", "name": "gsm8k", "version": 1, "first": 0, "count": len(answers)}
    run = new_run([f"#### {answer}" for answer in answers], accuracy={"tasks": [row]})
    (graders / "raising.py").write_text(
        "def sometimes(solution_str, ground_truth, **more):\n"
        "    return 1.0 if 'raises' not in solution_str else 1 / 0\n"
    )
    assert exit_code(run, eval_function=["raising:sometimes"]) == code
    report = orjson.loads(capsys.readouterr().out)
    undetermined = [finding for finding in report["findings"] if finding["code"] == "score_undetermined"]
    assert len(undetermined) == (code == 4)
    assert report["validity"]["valid"]
    if len(answers) == 2 and undetermined:
        assert "1 of 2 samples could not be scored by raising:sometimes" in undetermined[0]["message"]
        assert "the score is between 0.5000 and 1.0000" in undetermined[0]["message"]


@pytest.mark.slow
def test_a_pass_that_fails_takes_no_score_away(
    new_run: NewRun, graders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its own command ends with 4; the report stays that of the complete pass."""
    monkeypatch.chdir(graders)
    row = {"task": "gsm8k", "name": "gsm8k", "version": 1, "first": 0, "count": 1}
    run = new_run(["#### 1"], accuracy={"tasks": [row]})
    (graders / "shaky.py").write_text(
        "from pathlib import Path\n"
        "def exact(solution_str, ground_truth, **more):\n"
        f"    return 1 / 0 if Path({str(graders / 'down')!r}).exists() else 1.0\n"
    )
    assert exit_code(run, eval_function=["shaky:exact"]) == 0
    (graders / "down").touch()
    capsys.readouterr()
    assert exit_code(run, eval_function=["shaky:exact"]) == 4
    scored = orjson.loads(capsys.readouterr().out)["accuracy"][1]
    assert (scored["pass"], scored["value"]) == (1, 1.0)
    assert scored["notes"][0].startswith("scoring pass 2 (shaky:exact) has a score for 0 of 1 answers only")
    (graders / "down").unlink()
    assert exit_code(run, eval_function=["shaky:exact"]) == 0


def test_missing_data_of_a_scorer_ends_before_the_first_answer(
    new_run: NewRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only the last question takes it: no half pass is left, and --data is where to find it."""
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr("workloads.nltk_data.places", lambda: iter([tmp_path / "nowhere"]))
    model.cache_clear()
    run = new_run(["One. Two.", "One. Two."], task="ifeval")
    plain = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
    sentences = {
        "instruction_id_list": ["length_constraints:number_sentences"],
        "kwargs": [{"num_sentences": 2, "relation": "at least"}],
    }
    for number, reference in enumerate((plain, sentences)):
        with closing(sqlite3.connect(run / "events.db")) as log, log:
            log.execute(
                "UPDATE events SET texts = ? WHERE code = 8 AND json_extract(data, '$.prompt_id') = ?",
                (orjson.dumps({"reference": reference}).decode(), number),
            )
    with pytest.raises(SourceError, match="copy that folder into the one of --data"):
        score(ScoreSettings(run=run, quiet=True))
    assert query(run, "SELECT * FROM passes").rows == []
    with pytest.raises(UsageError, match=r"--data .*: the folder does not exist"):
        score(ScoreSettings(run=run, data=tmp_path / "none"))
