"""`loadgen score` on the command line: what it prints, what it refuses, how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
import typer

from cli.errors import UsageError
from cli.score import score
from cli.score_settings import ScoreSettings
from reporter.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Path]


def test_it_scores_and_reports(new_run: NewRun, capsys: pytest.CaptureFixture[str]) -> None:
    """The accuracy, and which pass it is of; an earlier pass is reported without scoring anything."""
    task = {"task": "gsm8k", "name": "gsm8k", "version": 1, "first": 0, "count": 2}
    run = new_run(["#### 1", "#### 2"], accuracy={"tasks": [task]})
    for options, number in (({}, 1), ({}, 2), ({"pass_number": 1}, 1)):
        said, report = printed(capsys, run, **options)
        assert said == ("" if options else f"pass {number}: 2 scored\n")
        (scored,) = report["accuracy"]
        assert (scored["value"], scored["pass"]) == (0.5, number)
    assert orjson.loads((run / "report.json").read_bytes())["accuracy"][0]["pass"] == 2
    with pytest.raises(OptionError, match="pass 7"):
        score(ScoreSettings(run=run, pass_number=7))


def printed(capsys: pytest.CaptureFixture[str], run: Path, **options: Any) -> tuple[str, Any]:
    """What it says, and the report that it prints."""
    with pytest.raises(typer.Exit):
        score(ScoreSettings(run=run, **{"json": True, **options}))
    out, err = capsys.readouterr()
    return err, orjson.loads(out)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pass_number": 1, "scorer": ["official"]}, "--pass 1 scores nothing: leave --scorer out"),
        ({"pass_number": 1, "reparse": True}, "leave --reparse out"),
        ({"reparse": True, "judge_url": "http://x", "judge_model": "m"}, "leave --judge-url out"),
        ({"judge_url": "http://x"}, "give --judge-model too"),
        ({"processes": 0}, "--processes 0: must be from 1"),
        ({"grader_timeout": 0.0}, "--grader-timeout 0: must be above 0"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError, match=said):
        score(ScoreSettings(run=tmp_path, **options))
