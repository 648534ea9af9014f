"""Where a verdict goes: files that were asked for, files that were not, and what GitHub Actions reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loadgen.cli.terminal.show import print_as, publish_verdicts
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import new_run_folder
from loadgen.sessions.gating.outputs import JUNIT
from reporter.render.named_verdict import NamedVerdict
from rulesets.verdict import Verdict, VerdictRow

HOSTILE = "::stop-commands::x ##[error]y"
ROW = VerdictRow("a", "a", None, None, "", 0, "FAIL", "fail", None, "so it is", "target")
VERDICT = Verdict("FAIL", "", "", rows=(ROW,))
PARTS = [NamedVerdict(VERDICT)]


def test_the_derived_file_is_next_to_the_report(tmp_path: Path) -> None:
    """Whether or not it was asked for elsewhere too."""
    publish_verdicts(PARTS, tmp_path, environment={})
    assert "so it is" in (tmp_path / JUNIT).read_text()
    publish_verdicts(
        PARTS, tmp_path, junit=tmp_path / "new" / "other.xml", markdown=tmp_path / "g.md", environment={}
    )
    assert (tmp_path / "new" / "other.xml").read_text() == (tmp_path / JUNIT).read_text()
    assert "so it is" in (tmp_path / "g.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["g.md", JUNIT, "new"]


@pytest.mark.parametrize("option", ["junit", "markdown"])
def test_a_file_that_was_asked_for_must_be_written(tmp_path: Path, option: str) -> None:
    """A job must not continue without its result: the error has the path, and the exit code of a set-up."""
    (tmp_path / "file").write_text("in the way")
    for path in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(SetupError, match=rf"--{option} .*cannot be written"):
            publish_verdicts(PARTS, tmp_path, environment={}, **{option: path})
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize("option", ["junit", "markdown"])
def test_a_log_is_not_written_over(tmp_path: Path, option: str) -> None:
    """Whatever it is called: nothing can make it again. Nor are two files written in one place."""
    log = tmp_path / "kept"
    log.write_bytes(b"SQLite format 3\0 and so on")
    with pytest.raises(UsageError, match=rf"--{option} .*a log is never overwritten"):
        publish_verdicts(PARTS, tmp_path, environment={}, **{option: log})
    assert log.read_bytes().endswith(b"and so on")
    with pytest.raises(UsageError, match="both name"):
        publish_verdicts(PARTS, tmp_path, environment={}, junit=tmp_path / "a", markdown=tmp_path / "." / "a")


def test_nothing_is_written_for_an_object_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A derived file is left out, as report.json is; a requested one is refused, without a folder `gs:`."""
    monkeypatch.chdir(tmp_path)
    publish_verdicts(PARTS, Path("gs://bucket/run"), environment={})
    assert not capsys.readouterr().err
    with pytest.raises(UsageError, match=r"--junit gs:/bucket/junit[.]xml: not written into object stores"):
        publish_verdicts(PARTS, tmp_path, junit=Path("gs://bucket/junit.xml"), environment={})
    with pytest.raises(UsageError, match=r"--out s3:/bucket/run: not written into object stores"):
        new_run_folder(Path("s3://bucket/run"), "model")
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_not_asked_for_may_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A note says so; the verdict is not about this machine's disk."""
    (tmp_path / JUNIT).mkdir()
    publish_verdicts(PARTS, tmp_path, environment={"GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "where")})
    notes = capsys.readouterr().err.splitlines()
    assert len(notes) == 2
    assert all(note.startswith("note: ") and "was not written" in note for note in notes)


def test_the_summary_is_added_to_and_not_too_long(tmp_path: Path) -> None:
    """Other commands of the step write to it too, and GitHub takes one mebibyte of all of them."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    publish_verdicts(PARTS, tmp_path, environment={"GITHUB_STEP_SUMMARY": str(summary)})
    publish_verdicts(PARTS, tmp_path, environment={"GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.read_text().startswith("before\n")
    assert summary.read_text().count("### ") == 2
    summary.write_bytes(b"x" * (1024 * 1024 - 200))
    publish_verdicts(PARTS, tmp_path, environment={"GITHUB_STEP_SUMMARY": str(summary)})
    assert 1024 * 1024 - 200 <= summary.stat().st_size <= 1024 * 1024


def test_annotations_are_for_github_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Elsewhere they are not printed, and nothing is printed twice; they never mix with printed JSON."""
    for environment in ({}, {"GITHUB_ACTIONS": "false"}, {"GITHUB_STEP_SUMMARY": ""}):
        publish_verdicts(PARTS, tmp_path, environment=environment)
    assert capsys.readouterr() == ("", "")
    publish_verdicts(PARTS, tmp_path, environment={"GITHUB_ACTIONS": "true"})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("::error title=a::FAIL a")


def test_quoted_text_is_not_a_command_on_github(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner reads standard output too; elsewhere a rule is shown as it was written."""
    verdict = replace(VERDICT, rows=(replace(ROW, id=HOSTILE, reason=HOSTILE),))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    print_as("verdict", "text", [NamedVerdict(verdict)])
    assert HOSTILE in capsys.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    print_as("verdict", "text", [NamedVerdict(replace(verdict, reasons=(HOSTILE,)), HOSTILE)])
    output = capsys.readouterr().out
    assert not any(line.strip().startswith("::") for line in output.splitlines())
    assert "##[" not in output
