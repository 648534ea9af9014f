"""docs/ruleset.schema.json: that it is current, and takes what the reader takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from rulesets.catalog import find, names
from rulesets.errors import RulesetFileError
from rulesets.loading import read
from rulesets.reading.ruleset_schema import schema

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rulesets.md").read_text(encoding="utf-8")
VALIDATOR = Draft202012Validator(schema())
HEAD = 'schema: rulesets/1\nruleset: {name: a, version: "1"}\n'
FILES = [find(name).read_text(encoding="utf-8") for name in names()]
DOCUMENTED = [
    text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if text.startswith("schema:")
]


def test_the_schema_is_valid() -> None:
    """It is a JSON schema."""
    Draft202012Validator.check_schema(schema())


def taken(tmp_path: Path, text: str) -> bool:
    """Whether the reader takes a file."""
    path = tmp_path / "a.yaml"
    path.write_text(text)
    try:
        read(path)
    except RulesetFileError:
        return False
    return True


@pytest.mark.parametrize("text", [*FILES, *DOCUMENTED], ids=range(len(FILES) + len(DOCUMENTED)))
def test_what_is_read_is_valid(text: str) -> None:
    """Every ruleset that comes with the program, and every one of the documentation."""
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(text))] == []


RIGHT = [
    "targets: [qps>1]",
    "targets: [{metric: qps, severity: info}]",
    "targets: [{metric: good, stat: rate, op: '>', value: 1, conditions: [ttft<1s]}]",
    "targets: [{metric: accuracy.x, op: '>', value: 1, confidence: {method: none}, note: n}]",
    "targets: [{metric: qps, op: '>', value: 1, where: {turn: 1, class: long}, on_missing: skip}]",
    "validity: {min_duration_s: 0.5, min_samples: 1, warmup_per_concurrency: 0}",
    "accuracy: [{metric: x, min: {abs: 1}, max: {abs: 2}, runs: 2, combine: mean, ci: clustered}]",
    "goodput: {slo: {ttft_ms: 1}, min_rps: 1}",
    "audit: [salt, {osl_range: [1, 2]}, {token_count: {tolerance: 0.1, test: TEST06}}]",
    "load: {pattern: concurrency, concurrency: {from: 1, to: 8, factor: 2}, isl: 5}",
    "generation: {temperature: 1, stop: [a, b], extra_body: {x: {y: [1]}}, locked: true}\ntargets: [qps>1]",
    "models: {m: {aliases: a, scenarios: {s: {targets: [qps>1]}}}}",
    "sweep: {pareto: {x: tps_per_user, y: {metric: tps_per_gpu}}, checks: [config_identical]}",
    "baseline: {ref: a, alpha: 0.01, metrics: {tps: higher}}",
]
WRONG = [
    "",
    "targts: [qps>1]",
    "targets: []",
    "targets: qps>1",
    "targets: [5]",
    "targets: ['']",
    "targets: [qqs>1]",
    "targets: [qps]",
    "targets: [{metric: qqs, op: '>', value: 1}]",
    "targets: [{metric: qps, op: '>'}]",
    "targets: [{metric: qps, value: 1}]",
    "targets: [{op: '>', value: 1}]",
    "targets: [{metric: qps, op: '=>', value: 1}]",
    "targets: [{metric: qps, op: '>', value: '1'}]",
    "targets: [{metric: qps, op: '>', value: 1, severity: panic}]",
    "targets: [{metric: qps, op: '>', value: 1, on_missing: pass}]",
    "targets: [{metric: qps, op: '>', value: 1, where: {}}]",
    "targets: [{metric: qps, op: '>', value: 1, confidence: {method: luck}}]",
    "targets: [{metric: qps, op: '>', value: 1, confidence: {level: 2}}]",
    "validity: {min_samples: 0}",
    "validity: {min_samples: 1.5}",
    "validity: {max_error_rate: 1}",
    "validity: {streaming: 'yes'}",
    "validity: {dataset_multiple: 1}",
    "accuracy: [{metric: x}]",
    "accuracy: [{metric: x, min: 1}]",
    "accuracy: [{metric: x, min: {abs: 1, factor: 1}}]",
    "accuracy: [{metric: 'x y', min: {abs: 1}}]",
    "goodput: {slo: {ttft: 1}, min_rps: 1}",
    "goodput: {slo: {ttft_ms: 1}}",
    "goodput: {min_rps: 1}",
    "audit: [pepper]",
    "audit: [{osl_range: [a, b]}]",
    "load: {pattern: waves}",
    "load: {pattern: poisson, rate: 0}",
    "generation: {temprature: 1}\ntargets: [qps>1]",
    "models: {}",
    "models: {m: {}}\ntargets: [qps>1]",
    "models: {m: {scenarios: {s: {target: [qps>1]}}}}",
    "sweep: {pareto: {x: tps_per_user}}",
    "sweep: {checks: [luck]}",
    "baseline: {metrics: {tps: faster}}",
    "seeds: {schedule: 18446744073709551616}\ntargets: [qps>1]",
    "definitions: {percentile_method: guess}\ntargets: [qps>1]",
    "steady_state: {max_drift: 0}",
    "power: {source: sun}\ntargets: [qps>1]",
]
ONLY_THE_READER = [
    "targets: [ttft:p(99)<1]",
    "targets: [qps>1, qps>1]",
    "targets: [ttft:p(101)<1s]",
    "targets: [{metric: ttft, stat: p99, op: '<', value: 1}]",
    "targets: ['completed<5']\nvalidity: {min_samples: 5}",
    "audit: [{osl_range: [2, 1]}]",
    "accuracy: [{metric: x, min: {factor: 0.9}}]",
    "goodput: {slo: {ttttt_ms: 1}, min_rps: 1}",
    "load: {rate: 5}",
    "models: {m: {aliases: a}}",
]


@pytest.mark.parametrize("text", RIGHT)
def test_both_take_what_is_right(text: str, tmp_path: Path) -> None:
    """The schema and the reader."""
    assert VALIDATOR.is_valid(yaml.safe_load(HEAD + text))
    assert taken(tmp_path, HEAD + text)


@pytest.mark.parametrize("text", WRONG)
def test_both_refuse_what_is_wrong(text: str, tmp_path: Path) -> None:
    """The schema and the reader; of a file that demands nothing only the reader knows."""
    assert not taken(tmp_path, HEAD + text)
    assert not VALIDATOR.is_valid(yaml.safe_load(HEAD + text)) or not text


@pytest.mark.parametrize("text", ONLY_THE_READER)
def test_what_no_schema_can_know_is_refused_by_the_reader(text: str, tmp_path: Path) -> None:
    """What one key has to do with another."""
    made: Any = yaml.safe_load(HEAD + text)
    assert VALIDATOR.is_valid(made)
    assert not taken(tmp_path, HEAD + text)
