"""`loadgen rules` and `loadgen list rulesets`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from typer.testing import CliRunner

from loadgen.cli.typer_application import application
from rulesets.catalog import names
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from typer.testing import Result

GATE = """\
schema: rulesets/1
ruleset: {name: ours, version: "1", locked: true, source: agreed, notes: said once}
definitions: {percentile_method: lower}
seeds: {schedule: 16159082839903944936}
targets:
  - ttft:p(99)<1s@es99
  - {id: reading-speed, metric: tpot, stat: mean, op: <=, value: 40, unit: ms, severity: warn,
     on_missing: skip, note: SLO 7}
accuracy: [{metric: gsm8k, min: {abs: 0.9}, runs: 5}]
validity: {min_samples: 100, streaming: required}
load: {pattern: poisson, rate: 5, isl: 1024}
audit: [salt, {osl_range: [100, 200]}]
steady_state: {required: true}
baseline: {min_runs: 3, metrics: {tps: higher}}
power: {source: wall}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a file of rules, in which we are."""
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(GATE)


def loadgen(*arguments: str) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(application(arguments[0]), arguments)


def test_one_scenario_is_shown_whole() -> None:
    """Section by section, and nothing of what it does not say."""
    shown = loadgen("rules", "show", "ours.yaml").stdout
    assert shown == (Path(__file__).parent / "golden" / "rules_show.txt").read_text()


def test_many_are_shown_in_a_line_each() -> None:
    """And how to see one of them."""
    lines = loadgen("rules", "show", "mlperf-inference@v6.1").stdout.splitlines()
    assert lines[0] == "mlperf-inference v6.1 (locked)"
    (server,) = [line for line in lines if line.split()[0] == "gpt-oss-120b/server"]
    assert "ttft:p(99)<=3000ms@es99" in server
    assert "--scenario MODEL/SCENARIO" in lines[-1]
    single = loadgen(
        "rules", "show", "mlperf-inference@v6.1", "--model", "openai/gpt-oss-120b", "--scenario", "server"
    )
    assert single.stdout.startswith("mlperf-inference v6.1: gpt-oss-120b/server (locked)\n")


def test_as_json_it_is_what_a_log_keeps() -> None:
    """Seeds as texts, for not every reader has whole numbers of that size."""
    shown = orjson.loads(loadgen("rules", "show", "ours.yaml", "--json").stdout)
    assert (shown["name"], shown["version"], shown["locked"]) == ("ours", "1", True)
    assert shown["rulesets"][0]["seeds"] == {"schedule": "16159082839903944936"}
    assert Ruleset.of_dict(shown["rulesets"][0]).to_dict()["targets"][1]["id"] == "reading-speed"


def test_a_file_is_checked() -> None:
    """A valid file is shown with its warnings; an invalid one ends with 2 and the place of the mistake."""
    checked = loadgen("rules", "check", "ours.yaml")
    assert checked.exit_code == 0
    assert checked.stdout == (
        "ours.yaml: ours 1: 1 scenario, 2 warnings\n"
        "  warning: ttft:p(99)<1s@es99 cannot pass with fewer than 459 requests, and a valid run "
        "may have only 100: set validity.min_samples: 459\n"
        "  warning: baseline.min_runs: with 3 runs a side no change is significant at 0.05 (the least p "
        "is 0.1); ask for 4\n"
    )
    Path("wrong.yaml").write_text(GATE.replace("tpot", "tpo"))
    checked = loadgen("rules", "check", "wrong.yaml", "chat", "gone.yaml")
    assert checked.exit_code == 2
    assert checked.stdout.startswith("chat: chat 1: 1 scenario, no warnings\n")
    assert checked.stderr == (
        "error: wrong.yaml:7: targets[1].metric: unknown metric 'tpo'; did you mean 'tpot'?\n"
        "error: gone.yaml: cannot be read (No such file or directory)\n"
    )


def test_warnings_of_several_scenarios_are_shown_once() -> None:
    """With the scenarios that each is about."""
    Path("many.yaml").write_text(
        'schema: rulesets/1\nruleset: {name: a, version: "1"}\n'
        "models: {m: {scenarios: {x: &x {targets: [qps>1, qps>2]}, y: *x}}}\n"
    )
    assert loadgen("rules", "check", "many.yaml").stdout == (
        "many.yaml: a 1: 2 scenarios, 1 warning\n"
        "  warning: qps:value>1req/s says nothing more than qps:value>2req/s  [m/x, m/y]\n"
    )


def test_rulesets_are_listed() -> None:
    """Every one that comes with the program, with what it has rules for."""
    listed = orjson.loads(loadgen("list", "rulesets", "--json").stdout)
    assert list(listed) == list(names())
    assert listed["chat@1"].startswith("any model; ")
    assert listed["mlperf-inference@v6.1"].startswith("locked; ")
