"""The gate: what it judges by, what it judges, how it ends, and what it refuses."""

from __future__ import annotations

import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.cli.gate import gate
from loadgen.sessions.error_exit_codes import exit_code
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, write
from loadgen.sessions.settings.gate import GateSettings
from loadgen.sessions.settings.verdict_options import exit_code as code_of
from loadgen.sessions.settings.verdict_options import most_severe
from recorder.errors import LogError
from recorder.event import EventType
from recorder.lock import Hold
from recorder.store import LOG_NAME
from rulesets.errors import RulesetError
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Gate = Callable[..., tuple[int, Any]]

KEY = "sk-right-key"
SURE = "ttft:p(50)<10s"
MISSED = "output_tokens:p(50)>1000"
UNSURE = "ttft:p(99)<10s@es99"


@pytest.mark.parametrize(
    ("require", "inconclusive", "code", "status"),
    [
        ([SURE, f"{MISSED}!warn"], "5", 0, "PASS"),
        ([SURE, UNSURE], "5", 5, "INCONCLUSIVE"),
        ([MISSED, UNSURE], "pass", 1, "FAIL"),
    ],
)
def test_each_verdict_has_its_code(
    judged: Gate, a_run: Path, require: list[str], inconclusive: str, code: int, status: str
) -> None:
    """And an inconclusive one ends as was asked for; report.json has the verdict."""
    ended, verdict = judged(a_run, require=require, inconclusive=inconclusive)
    assert (ended, verdict["status"]) == (code, status)
    assert orjson.loads((a_run / "report.json").read_bytes())["verdict"]["status"] == status


@pytest.mark.parametrize(
    ("status", "inconclusive", "code"),
    [
        *(("PASS", asked, 0) for asked in ("pass", "fail", "5")),
        *(("FAIL", asked, 1) for asked in ("pass", "fail", "5")),
        *(("INVALID", asked, 4) for asked in ("pass", "fail", "5")),
        ("INCONCLUSIVE", "pass", 0),
        ("INCONCLUSIVE", "fail", 1),
        ("INCONCLUSIVE", "5", 5),
    ],
)
def test_only_a_doubt_ends_as_was_asked_for(status: str, inconclusive: str, code: int) -> None:
    """No option makes a miss, or an invalid run, pass."""
    assert code_of(status, inconclusive) == code


def test_every_exit_code_is_explained() -> None:
    """docs/gate.md has a row for each."""
    page = (ROOT / "docs" / "gate.md").read_text()
    documented = [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)]
    assert documented == [0, 1, 2, 3, 4, 5, 70, 130]


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 130])))
def test_the_most_severe_code_counts(codes: list[int]) -> None:
    """An interrupt over a mistake over a set-up over an invalid run over a miss over a doubt over a pass."""
    order = [130, 2, 3, 4, 1, 5, 0]
    assert most_severe(codes) == min(codes, key=order.index, default=0)


def test_the_scenario_is_chosen_or_asked_for(judged: Gate, a_run: Path, rules: str) -> None:
    """Of several that fit one has to be named, and nothing else is one."""
    with pytest.raises(RulesetError, match="--scenario"):
        judged(a_run, ruleset=rules)
    code, verdict = judged(a_run, ruleset=rules, scenario="two")
    assert (code, verdict["scenario"]) == (4, "two")
    with pytest.raises(RulesetError, match="three"):
        judged(a_run, ruleset=rules, scenario="three")
    with pytest.raises(UsageError, match="give --ruleset"):
        judged(a_run, require=[SURE], scenario="two")
    with pytest.raises(RulesetError, match="did you mean 'chat'"):
        judged(a_run, ruleset="chatt")


def test_a_skipped_rule_has_a_row(judged: Gate, a_run: Path) -> None:
    """The verdict calls its rules changed; to skip a rule that does not exist is a mistake."""
    code, verdict = judged(a_run, require=[SURE, MISSED], skip=[MISSED])
    assert code == 0
    assert [row["status"] for row in verdict["rows"]] == ["PASS", "SKIP"]
    assert verdict["overrides"] == [f"left out: {MISSED}"]
    with pytest.raises(RulesetError, match="unknown rule 'ttft'"):
        judged(a_run, require=[SURE], skip=["ttft"])


def test_scores_of_another_run(judged: Gate, a_run: Path, rules: str, tmp_path: Path) -> None:
    """A gate of accuracy takes them from where they are; without any it fails."""
    asked: dict[str, Any] = {"ruleset": rules, "scenario": "all"}
    assert judged(a_run, **asked)[0] == 1
    scores = tmp_path / "scores.json"
    scores.write_bytes(orjson.dumps({"accuracy": {"ROUGE1": {"value": 36.1, "n": 100}}}))
    assert judged(a_run, **asked, accuracy=scores)[0] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("{}", "no scores under the key"),
        ('{"accuracy": {"a": 1}}', "accuracy.a: must have `value` and `n`"),
        ('{"accuracy": {"a": {"value": "1", "n": 1}}}', "must be finite numbers"),
        ('{"accuracy": {"a": {"value": 1, "n": 0}}}', "`n` must be how many"),
        ('{"accuracy": {"a": {"value": 1, "n": 1, "standard_error": -1}}}', "must be finite numbers"),
    ],
)
def test_invalid_scores_are_refused(
    judged: Gate, a_run: Path, tmp_path: Path, content: str, message: str
) -> None:
    """Each is reported with its file and its name."""
    scores = tmp_path / "scores.json"
    scores.write_text(content)
    with pytest.raises(UsageError, match=message):
        judged(a_run, require=[SURE], accuracy=scores)


def test_audits_of_the_run(judged: Gate, a_run: Path, rules: str, tmp_path: Path) -> None:
    """What an audit left counts; that there is none does too."""
    asked: dict[str, Any] = {"ruleset": rules, "scenario": "one", "skip": ["accuracy.ROUGE1"]}
    with pytest.raises(UsageError, match="has no result of an audit"):
        judged(a_run, **asked, audit=tmp_path)
    audit = tmp_path / "audits" / "audit" / "audit_output_caching_test.json"
    audit.parent.mkdir(parents=True)
    for passed, code in ((True, 0), (False, 1)):
        audit.write_bytes(orjson.dumps({"test": "OUTPUT_CACHING_TEST", "passed": passed}))
        assert judged(a_run, **asked, audit=tmp_path / "audits")[0] == code
    audit.write_text('{"passed": "yes"}')
    with pytest.raises(UsageError, match="does not say whether the audit `passed`"):
        judged(a_run, **asked, audit=tmp_path / "audits")
    score = audit.with_name("perf_mode_accuracy.json")
    for wrong in ({"value": True}, {"value": 0.9, "n": -5}, {"value": 0.9, "n": "all"}):
        score.write_bytes(orjson.dumps(wrong))
        audit.write_text('{"passed": true}')
        with pytest.raises(UsageError, match=r"the score under load|`n` must be how many"):
            judged(a_run, **asked, audit=tmp_path / "audits")
    score.unlink()
    audit.write_text('{"test": "out_of_caching"}')
    with pytest.raises(UsageError, match="'out_of_caching' is not an audit; there is output_caching"):
        judged(a_run, **asked, audit=tmp_path / "audits")
    with pytest.raises(UsageError, match="the folder does not exist"):
        judged(a_run, **asked, audit=tmp_path / "nowhere")


def test_a_change_from_a_baseline(judged: Gate, a_run: Path, made_run: Path, tmp_path: Path) -> None:
    """A run is as fast as a copy of itself."""
    change, copy = ["tps:delta>-3%"], shutil.copytree(made_run, tmp_path / "copy")
    code, verdict = judged(a_run, require=change, baseline=[str(made_run)], also=[copy])
    assert (code, verdict["rows"][0]["observed"]) == (0, 0.0)


@pytest.mark.parametrize("option", ["baseline", "also"])
def test_a_run_is_not_compared_with_itself(judged: Gate, a_run: Path, made_run: Path, option: str) -> None:
    """Under whatever name, nor named twice: it would pass for more runs than there are."""
    place = str if option == "baseline" else lambda path: path
    for again in ([a_run], [a_run / LOG_NAME], [made_run, made_run]):
        with pytest.raises(UsageError, match="named twice"):
            judged(a_run, require=["tps:delta>-3%"], **{option: [place(run) for run in again]})


def test_what_no_rule_asks_for(a_run: Path, made_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is reported: a baseline without rules about a change would look like a comparison."""
    with pytest.raises(SystemExit):
        gate(GateSettings(run=a_run, require=[SURE], baseline=[str(made_run)]))
    assert capsys.readouterr().err == "note: --baseline was given, and no rule needs it\n"
    with pytest.raises(SystemExit):
        gate(GateSettings(run=a_run, require=["tps:delta>-3%"], baseline=[str(made_run)]))
    assert capsys.readouterr().err == ""


def test_the_rules_of_the_run_itself(judged: Gate, a_run: Path, made_run: Path) -> None:
    """Without others they hold; a run that has none cannot pass."""
    assert made_run.exists()
    with pytest.raises(UsageError, match="no rules: give"):
        judged(a_run)


def test_a_folder_that_is_not_a_run(judged: Gate, tmp_path: Path) -> None:
    """An empty folder, and a missing one, are mistakes of the command line."""
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(LogError) as refused:
            judged(path, require=[SURE])
        assert exit_code(refused.value) == 2


def test_every_run_of_a_series_is_judged(judged: Gate, a_series: Path) -> None:
    """One exit code for all of them, and a test suite each."""
    code, summary = judged(a_series / "series.json", require=[SURE, MISSED])
    assert (code, summary["exit_code"], summary["together"]) == (1, 1, [])
    assert [point["status"] for point in summary["points"]] == ["FAIL", "FAIL"]
    text = (a_series / "junit.xml").read_text()
    assert text.count("<testsuite ") == 2
    assert f'name="rate-2: {SURE.partition("<")[0]}"' in text


def test_a_point_that_was_not_run_is_invalid(judged: Gate, a_series: Path) -> None:
    """Its result is unknown; a series without a single run is a mistake."""
    shutil.rmtree(a_series / "02-rate-2")
    code, summary = judged(a_series, require=[SURE])
    assert code == 4
    assert "loadgen resume" in summary["points"][1]["verdict"]["reasons"][0]
    shutil.rmtree(a_series / "01-rate-1")
    with pytest.raises(UsageError, match="no run yet"):
        judged(a_series, require=[SURE])


def test_rules_over_all_runs_of_a_series(judged: Gate, a_series: Path, rules: str) -> None:
    """Their verdict counts like one more run; the rules that are left out of it are listed."""
    skip = ["accuracy", "sweep.tps_per_user_consistency"]
    code, summary = judged(a_series, ruleset=rules, scenario="all", skip=skip)
    (together,) = summary["together"]
    assert [point["status"] for point in summary["points"]] == ["PASS", "PASS"]
    assert (code, together["verdict"]["status"]) == (1, "FAIL")
    assert {row["id"]: row["status"] for row in together["verdict"]["rows"]} == {
        "sweep.points.min": "FAIL",
        "sweep.tps_per_user_consistency": "SKIP",
    }
    with pytest.raises(RulesetError, match=r"did you mean 'sweep\.points\.min'"):
        judged(a_series, ruleset=rules, scenario="all", skip=["sweep.points.mim"])


def test_points_are_compared_with_their_namesakes(judged: Gate, a_series: Path, tmp_path: Path) -> None:
    """Of a series that is the baseline, each point with that of its name; one that lacks it is refused."""
    shutil.rmtree(a_series / "02-rate-2")
    other, change = shutil.copytree(a_series, tmp_path / "before"), ["tps:delta>-3%"]
    _, summary = judged(a_series, require=change, baseline=[str(other)])
    assert summary["points"][0]["verdict"]["rows"][0]["observed"] == 0.0
    write(other, Series(SeriesKind.SWEEP, {"plot": False}, (SeriesPoint("rate-1", {}, {}),)))
    with pytest.raises(UsageError, match="no such point: rate-2"):
        judged(a_series, require=change, baseline=[str(other)])


@pytest.mark.slow
def test_a_run_that_is_not_over_is_invalid(judged: Gate, a_run: Path) -> None:
    """Of a run that was cut off, or is running, no verdict stands."""
    with closing(sqlite3.connect(a_run / LOG_NAME)) as log, log:
        log.execute("DELETE FROM events WHERE code = ?", (EventType.TEST_ENDED.value,))
    code, verdict = judged(a_run, require=[SURE])
    assert (code, verdict["status"]) == (4, "INVALID")
    assert verdict["reasons"]
    hold = Hold(a_run)
    code, running = judged(a_run, require=[SURE])
    hold.release()
    assert (code, running["status"]) == (4, "INVALID")
    assert running["reasons"] != verdict["reasons"]


def test_no_secret_is_in_any_output(a_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in the XML, the Markdown, the JSON or on the console."""
    gate_settings = GateSettings(
        run=a_run, require=[MISSED], junit=tmp_path / "deep" / "j.xml", markdown=tmp_path / "g.md"
    )
    for settings in (gate_settings, replace(gate_settings, json=True)):
        with pytest.raises(SystemExit):
            gate(settings)
    printed = "".join(capsys.readouterr())
    files = [tmp_path / "deep" / "j.xml", tmp_path / "g.md", a_run / "junit.xml", a_run / "report.json"]
    printed += "".join(path.read_text() for path in files)
    assert "small-model" in printed
    assert KEY not in printed
