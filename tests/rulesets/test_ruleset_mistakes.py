"""The message for a mistake in a file: file, line, key, and the nearest valid name. A golden file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rulesets.errors import RulesetError
from rulesets.loading import load
from tests import golden

if TYPE_CHECKING:
    import pytest

GOLDEN = Path(__file__).parent / "golden" / "mistakes.txt"
HEAD = 'schema: rulesets/1\nruleset: {name: ci, version: "1"}\n'
LOCKED = """\
schema: rulesets/1
ruleset: {name: house, version: "1", locked: true}
definitions: {percentile_method: lower}
models:
  m-8b:
    scenarios:
      server:
        validity: {min_samples: 500}
        targets: [{id: ttft, metric: ttft, stat: p99, op: "<", value: 2, unit: s}]
"""
EXTENDS = 'schema: rulesets/1\nruleset:\n  name: ci\n  version: "1"\n  extends: %s\n'
HOUSE = EXTENDS % "house.yaml"
SERVER = "models:\n  m-8b:\n    scenarios:\n      server:\n        "

CASES = {
    "an unknown metric": HEAD + "targets:\n  - {metric: tfft, stat: p99, op: <, value: 1, unit: s}\n",
    "an unknown metric in the short form": HEAD + "targets:\n  - tfft:p(99)<1s\n",
    "a latency without a unit": HEAD + "targets:\n  - {metric: ttft, stat: p99, op: <, value: 500}\n",
    "a latency without a unit in the short form": HEAD + "targets:\n  - ttft:p(99)<500\n",
    "a time below nothing": HEAD + "targets:\n  - ttft:p(99)<0ms\n",
    "a share above all": HEAD + "targets:\n  - good(ttft<1s):fraction>1\n",
    "two bounds that contradict": HEAD + "targets:\n  - completed<5\n  - completed>=9\n",
    "a bound against the validity": HEAD + "validity: {min_samples: 500}\ntargets:\n  - completed<100\n",
    "a score between nothing": HEAD + "accuracy:\n  - {metric: f1, min: {abs: 0.9}, max: {abs: 0.8}}\n",
    "two targets with one id": HEAD + "targets:\n  - {id: a, metric: qps, op: '>', value: 1}\n"
    "  - {id: a, metric: tps, op: '>', value: 1}\n",
    "an id that a gate has": HEAD + "accuracy: [{metric: f1, min: {abs: 1}}]\n"
    "targets: [{id: accuracy.f1, metric: qps, op: '>', value: 1}]\n",
    "an id of another rule": HEAD + "targets: [{id: validity.min_samples, metric: qps, op: '>', value: 1}]\n",
    "an id of a group": HEAD + "targets: [{id: target, metric: qps, op: '>', value: 1}]\n",
    "an id that cannot be shown": HEAD + 'targets: [{id: "a\\e[31m", metric: qps, op: ">", value: 1}]\n',
    "a number that no log can keep": HEAD + f"validity: {{min_samples: {10**29}}}\n",
    "a number that YAML takes for text": HEAD + "validity: {min_duration_s: 1e3}\n",
    "a fraction that YAML takes for text": HEAD + "validity: {min_duration_s: 2.5E3}\n",
    "a setting that no log can keep": HEAD + f"generation: {{top_k: {10**29}}}\n",
    "a loosened bound": HOUSE
    + SERVER
    + "targets:\n          - {id: ttft, metric: ttft, stat: p99, op: <, value: 3, unit: s}\n",
    "fewer samples": HOUSE + SERVER + "validity:\n          min_samples: 100\n",
    "a dropped rule": HOUSE + SERVER + "drop:\n        - ttft\n",
    "an unknown rule to drop": HOUSE + SERVER + "drop:\n        - tftt\n",
    "another definition": HOUSE + "definitions:\n  percentile_method: linear\n",
    "a model that the locked one has not": HOUSE + SERVER.replace("m-8b", "m-9b") + "targets: [qps>1]\n",
    "a scenario that the locked one has not": HOUSE
    + SERVER.replace("server", "servers")
    + "targets: [qps>1]\n",
    "an unknown extends": EXTENDS % "mlperf-inferense@v6.1" + "targets: [qps>1]\n",
    "an unknown version": EXTENDS % "mlperf-inference@v6" + "targets: [qps>1]\n",
    "a file that is not there": EXTENDS % "hause.yaml" + "targets: [qps>1]\n",
    "a circle of one": EXTENDS % "ci.yaml" + "targets: [qps>1]\n",
    "a circle of two": EXTENDS % "round.yaml" + "targets: [qps>1]\n",
    "an unknown method of a confidence": HEAD
    + "targets:\n  - metric: ttft\n    stat: p99\n    op: <\n    value: 1\n    unit: s\n"
    "    confidence:\n      method: early_stoping\n",
    "a confidence that does not go with it": HEAD
    + "targets:\n  - {metric: error, op: <, value: 0.1, confidence: {method: early_stopping}}\n",
    "a bound that is missing": HEAD + "targets:\n  - {metric: qps, severity: warn}\n",
    "half a bound": HEAD + "targets:\n  - {metric: qps, op: '>', severity: info}\n",
    "a condition that is none": HEAD
    + "targets:\n  - {metric: good, stat: rate, op: '>', value: 1, conditions: [tfft<1s]}\n",
    "an unknown latency of a goodput": HEAD + "goodput:\n  slo:\n    tfft_ms: 1\n  min_rps: 1\n",
    "a share of no reference": HEAD + "accuracy:\n  - metric: f1\n    min: {factor: 0.9}\n",
    "a bare bound": HEAD + "accuracy:\n  - metric: f1\n    min: 0.9\n",
    "a share and a number": HEAD
    + "accuracy:\n  - metric: f1\n    reference: 1\n    min: {factor: 0.9, abs: 1}\n",
    "an unknown audit": HEAD + "audit:\n  - ouput_caching\n",
    "a range the wrong way": HEAD + "audit:\n  - osl_range: [200, 100]\n",
    "an unknown pattern": HEAD + "load:\n  pattern: poison\ntargets: [qps>1]\n",
    "a load without a pattern": HEAD + "load:\n  rate: 5\ntargets: [qps>1]\n",
    "a concurrency of neither kind": HEAD + "load:\n  pattern: concurrency\n  concurrency: {min: 1, to: 8}\n",
    "an unknown setting": HEAD + "generation:\n  temprature: 0\ntargets: [qps>1]\n",
    "an unknown definition": HEAD + "definitions:\n  percentile_method: linaer\ntargets: [qps>1]\n",
    "warm-up that is measured": HEAD
    + "definitions:\n  throughput_window: {exclude_warmup: false}\ntargets: [qps>1]\n",
    "flat beside models": HEAD + SERVER + "targets: [qps>1]\ntargets: [qps>1]\n",
    "a model without scenarios": HEAD + "models:\n  m-8b: {aliases: a}\n",
    "any scenario of nothing": HEAD + SERVER.replace("server", "'*'") + "targets: [qps>1]\n",
    "a scenario that demands nothing": HEAD + SERVER + "notes: nothing\n",
    "an unknown check of a sweep": HEAD + "sweep:\n  checks:\n  - tps_per_user_consistancy: 0.01\n",
    "a check of a sweep twice": HEAD
    + "sweep:\n  checks:\n  - config_identical\n  - config_identical: [model]\n",
    "an exact number of accuracy results": HEAD
    + "sweep:\n  checks:\n  - accuracy_per_region: {exactly: 2}\n",
    "a severity of a check": HEAD
    + "sweep:\n  checks:\n  - offline_concurrency_at_least: {severity: warning}\n",
    "a warning of nothing": HEAD + "validity: {warn: [min_sampels]}\n",
    "a region twice": HEAD
    + "sweep:\n  points:\n    require:\n    - {region: low, min: 2}\n    - {region: low, min: 1}\n",
    "an unknown metric of a baseline": HEAD + "baseline:\n  metrics:\n    tsp: higher\n",
    "a percentile of a rate": HEAD + "baseline:\n  metrics:\n    tps.p95: higher\n",
    "a latency that is to grow": HEAD + "baseline:\n  metrics:\n    ttft.p95: higher\n",
    "an axis that is none": HEAD + "sweep:\n  pareto:\n    x: tps_per_usr\n    y: tps\n",
    "a statistic that is none": HEAD + "sweep:\n  pareto: {x: {metric: tps_per_user, stat: 90}, y: tps}\n",
    "a way that is none": HEAD + "baseline:\n  metrics: {tps: up}\n",
}


def message_for(text: str) -> str:
    """What the reader says of a file."""
    Path("ci.yaml").write_text(text)
    try:
        load("ci.yaml")
    except RulesetError as error:
        return str(error)
    return "is right"


def test_every_mistake_has_its_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make golden` writes the golden file."""
    monkeypatch.chdir(tmp_path)
    Path("house.yaml").write_text(LOCKED)
    Path("round.yaml").write_text(EXTENDS % "ci.yaml" + "targets: [qps>1]\n")
    messages = "".join(f"{name}\n  {message_for(text)}\n" for name, text in CASES.items())
    golden.check(GOLDEN, messages)
    assert "is right" not in messages
