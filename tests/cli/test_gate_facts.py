"""Facts that a gate is given, and its output for several runs: power, C_max, baselines, a line per run."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.gate import gate
from loadgen.cli.sql import sql
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, folder_of, write
from loadgen.sessions.settings.gate import GateSettings
from recorder.store import LOG_NAME
from rulesets.errors import RulesetError
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Gate = Callable[..., tuple[int, Any]]

SURE = "ttft:p(50)<10s"
MISSED = "output_tokens:p(50)>1000"
POWER = "schema: rulesets/1\nruleset: {name: p, version: '1'}\npower: {required: true, source: wall}\n"
REGIONS = """\
schema: rulesets/1
ruleset: {name: regions, version: '1'}
targets: ['ttft:p(50)<10s']
sweep: {points: {regions: mlperf_endpoints}}
"""


def test_power_is_given_to_the_gate(judged: Gate, a_run: Path, a_series: Path, tmp_path: Path) -> None:
    """It is in the report; a source other than the rules' does not count, and a missing figure is a miss."""
    rules = tmp_path / "power.yaml"
    rules.write_text(f"{POWER}targets: ['{SURE}']\n")
    for power, code in ((None, 1), ("wall:5200.5", 0), ("nvml:5200.5", 1)):
        ended, verdict = judged(a_run, ruleset=str(rules), power=power)
        assert ended == code
    assert [row["unit"] for row in verdict["rows"] if row["id"] == "power"] == ["W"]
    reported = orjson.loads((a_run / "report.json").read_bytes())["run"]["power"]
    assert reported == {"source": "nvml", "watts": 5200.5}
    rules.write_text(f"{POWER.replace(', source: wall', '')}targets: ['{SURE}']\n")
    assert judged(a_series, ruleset=str(rules), power="provisioned:10")[0] == 0
    with pytest.raises(UsageError, match="evaluate each run separately"):
        judged(a_series, ruleset=str(rules), power="wall:10")


@pytest.mark.parametrize("power", ["wal:5", "5200", "wall", "wall:0", "wall:nan", "wall:inf", "wall:5kW"])
def test_invalid_power_is_refused(judged: Gate, a_run: Path, power: str) -> None:
    """It needs watts and their source."""
    with pytest.raises(UsageError, match=f"--power {power}"):
        judged(a_run, require=[SURE], power=power)


@pytest.mark.slow
def test_the_greatest_concurrency_is_declared(judged: Gate, a_series: Path, tmp_path: Path) -> None:
    """So that a point may lie in the margin above it; where there are no regions it is a mistake."""
    rules = tmp_path / "regions.yaml"
    rules.write_text(REGIONS)
    series = Series(
        SeriesKind.SWEEP, {"plot": False}, (SeriesPoint("c-2", {}, {}), SeriesPoint("c-110", {}, {}))
    )
    write(a_series, series)
    for number, places in enumerate((2, 110)):
        folder = folder_of(a_series, series, number)
        (a_series / f"0{number + 1}-rate-{number + 1}").rename(folder)
        with closing(sqlite3.connect(folder / LOG_NAME)) as log, log:
            log.execute(
                "UPDATE session SET settings = json_set(settings, '$.load.concurrency', ?)", (places,)
            )
    for c_max, status, bound in ((None, "PASS", 122), (100, "PASS", 111), (99, "FAIL", 109)):
        _, summary = judged(a_series, ruleset=str(rules), c_max=c_max)
        rows = {row["id"]: row for row in summary["together"][0]["verdict"]["rows"]}
        assert rows["sweep.regions.in_range"]["status"] == status
        assert rows["sweep.regions.in_range"]["bound"] == bound
    _, verdicts = judged(a_series, ruleset=str(rules), c_min=3)
    basis = next(
        row for row in verdicts["together"][0]["verdict"]["rows"] if row["id"] == "sweep.regions.basis"
    )
    assert basis["reason"] == "no valid point lies at the declared C_min, 3"
    for option in ("c_max", "c_min"):
        with pytest.raises(UsageError, match="these rules have no regions"):
            judged(a_series, require=[SURE], **{option: 100})
        with pytest.raises(UsageError, match="this is one run"):
            judged(folder, require=[SURE], **{option: 100})
        with pytest.raises(UsageError, match="must be 1 or more"):
            judged(a_series, ruleset=str(rules), **{option: 0})


def test_points_have_their_own_scores(judged: Gate, a_series: Path, tmp_path: Path) -> None:
    """A file names the scored run, or the file of scores, of each point; the others have none."""
    (tmp_path / "scores.json").write_bytes(orjson.dumps({"accuracy": {"f1": {"value": 0.9, "n": 10}}}))
    points = tmp_path / "points.json"
    points.write_bytes(orjson.dumps({"points": {"rate-2": "scores.json"}}))
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "schema: rulesets/1\nruleset: {name: f1, version: '1'}\n"
        "accuracy: [{metric: f1, min: {abs: 0.8}, on_missing: skip}]\n"
    )
    _, verdicts = judged(a_series, ruleset=str(rules), accuracy=points)
    assert [[row["status"] for row in point["verdict"]["rows"]] for point in verdicts["points"]] == [
        ["SKIP"],
        ["PASS"],
    ]
    points.write_bytes(orjson.dumps({"points": {"rate-3": "scores.json"}}))
    with pytest.raises(UsageError, match="no such point: 'rate-3'; points: rate-1, rate-2"):
        judged(a_series, ruleset=str(rules), accuracy=points)
    points.write_bytes(orjson.dumps({"points": {"rate-2": 1}}))
    with pytest.raises(UsageError, match="must be paths"):
        judged(a_series, ruleset=str(rules), accuracy=points)


def test_a_baseline_of_the_rules_that_is_gone(judged: Gate, a_run: Path, tmp_path: Path) -> None:
    """Is named with the file and the key that speak of it; another can be given."""
    rules = tmp_path / "rules.yaml"
    rules.write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1'}\n"
        "baseline:\n  ref: gone/main\n  metrics: {tps: higher}\n"
    )
    with pytest.raises(
        RulesetError, match=r"rules\.yaml:4: baseline\.ref: gone/main: no run folder has this name"
    ):
        judged(a_run, ruleset=str(rules))


def test_a_series_is_shown_run_by_run(a_series: Path, rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The rules over all of it as a table, a line per run; every rule of every run on request."""
    asked: dict[str, Any] = {"run": a_series, "ruleset": rules, "scenario": "all", "skip": ["accuracy"]}
    with pytest.raises(SystemExit):
        gate(GateSettings(**asked))
    page = capsys.readouterr().out
    assert page.index("points >= 3") < page.index("2 of 2 passed") < page.index("rate-2")
    assert "ttft:p(50)<10s" not in page
    with pytest.raises(SystemExit):
        gate(GateSettings(**asked, full=True))
    assert capsys.readouterr().out.count("ttft:p(50)<10s") == 2


def test_the_commands_of_the_page_work(judged: Gate, a_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What docs/gate.md asks of report.json and of a log is in them."""
    page = (ROOT / "docs" / "gate.md").read_text()
    (query,) = re.findall(r'^loadgen sql RUN "(.*)"$', page, re.MULTILINE)
    with closing(sqlite3.connect(a_run / LOG_NAME)) as log, log:
        log.execute(
            "UPDATE session SET settings = json_set(settings, '$.ruleset', json('{\"name\": \"mine\"}'))"
        )
    sql([a_run], query)
    assert capsys.readouterr().out.split()[-1] == "mine"
    judged(a_run, require=[SURE, MISSED])
    (asked,) = re.findall(r"^jq -r '(.*)' RUN/report.json$", page, re.MULTILINE)
    rows = orjson.loads((a_run / "report.json").read_bytes())["verdict"]["rows"]
    members = set(re.findall(r"\.(\w+)", asked)) - {"verdict", "rows"}
    assert members == {"status", "id", "reason", "remedy"}
    assert all(members <= row.keys() for row in rows)
