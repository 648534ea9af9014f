"""Files that extend one another, what a lock forbids, and the changes that are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rulesets.errors import RulesetFileError
from rulesets.loading import load, read

if TYPE_CHECKING:
    from pathlib import Path

PARENT = """\
schema: rulesets/1
ruleset: {name: house, version: "1", locked: LOCKED, source: agreed, notes: said once}
definitions: {latency_origin: scheduled}
seeds: {schedule: 16159082839903944936}
models:
  m-8b:
    aliases: [org/M-8B-Instruct]
    dataset: {name: questions, perf_samples: 100}
    generation: {max_new_tokens: {performance: 128, accuracy: 256}, locked: true}
    accuracy: [{metric: ROUGE1, reference: 38.7792, min: {factor: 0.99}, runs: 5}]
    scenarios:
      server:
        load: {pattern: poisson, rate: 5}
        validity: {min_samples: 500, max_error_rate: 0.01, streaming: required, dataset_multiple: true}
        targets:
          - {id: ttft, metric: ttft, stat: p99, op: "<", value: 2, unit: s,
             confidence: {method: early_stopping, form: estimate}}
          - {id: tail, metric: itl, stat: max, op: "<=", value: 1, unit: s, severity: warn}
          - {id: rate, metric: qps, op: ">=", value: 4, where: {class: long}}
          - {id: change, metric: tps, delta: true, op: ">", value: -3, unit: "%"}
        goodput: {slo: {ttft_ms: 800, tpot_ms: 50}, min_fraction: 0.9}
        audit: [output_caching, {osl_range: [100, 200]}, perf_mode_accuracy]
      closed:
        load: {pattern: concurrency, concurrency: {min: 4, max: 32}}
        targets: ["qps>1"]
sweep:
  points: {min: 8, require: [{region: low, min: 2}]}
  search: {maximise: rate}
  checks: [{tps_per_user_consistency: 0.01}]
steady_state: {required: true, min_blocks: 4, max_drift: 0.05}
baseline: {min_runs: 5, metrics: {tps: higher, osl.mean: higher}}
power: {source: wall, required: true}
"""
HEAD = 'schema: rulesets/1\nruleset: {name: ours, version: "2", extends: house.yaml}\n'
SERVER = "models: {m-8b: {scenarios: {server: {%s}}}}\n"
TTFT = (
    "{id: ttft, metric: ttft, stat: p99, op: '<', value: 2, unit: s, "
    "confidence: {method: early_stopping, form: estimate}}"
)
TAIL = "{id: tail, metric: itl, stat: max, op: '<=', value: 1, unit: s, severity: warn}"
RATE = "{id: rate, metric: qps, op: '>=', value: 4, where: {class: long}}"
CHANGE = "{id: change, metric: tps, delta: true, op: '>', value: -3, unit: '%'}"
GOODPUT = "goodput: {slo: {ttft_ms: 800, tpot_ms: 50}, min_fraction: 0.9}"


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a locked and an open ruleset, in which we are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "house.yaml").write_text(PARENT.replace("LOCKED", "true"))
    (tmp_path / "open.yaml").write_text(PARENT.replace("LOCKED", "false"))
    return tmp_path


def written(folder: Path, text: str) -> Path:
    """Write a file that extends the locked ruleset."""
    path = folder / "ours.yaml"
    path.write_text(HEAD + text)
    return path


def test_all_that_is_not_changed_is_inherited(house: Path) -> None:
    """Rules, definitions, seeds, sources and notes; the name is the file's own."""
    before = load("house.yaml", scenario="server")
    after = load(written(house, ""), scenario="server")
    assert (after.name, after.version, after.locked) == ("ours", "2", True)
    assert (after.model, after.scenario) == ("m-8b", "server")
    same: tuple[str, ...] = (
        "targets",
        "validity",
        "definitions",
        "seeds",
        "load",
        "dataset",
        "generation",
        "audits",
    )
    same += ("steady_state", "baseline", "sweep", "power", "source", "notes")
    assert [name for name in same if getattr(after, name) != getattr(before, name)] == []
    assert after.overrides == ()


TIGHTER = {
    "nothing": "",
    "the same again": SERVER % f"targets: [{TTFT}, {TAIL}, {RATE}, {CHANGE}], {GOODPUT}",
    "a tighter bound": SERVER % f"targets: [{TTFT.replace('value: 2', 'value: 1')}]",
    "another unit": SERVER % f"targets: [{TTFT.replace('value: 2, unit: s', 'value: 2000, unit: ms')}]",
    "a surer proof": SERVER % f"targets: [{TTFT.replace('estimate', 'estimate, level: 0.999')}]",
    "a proof where none was": SERVER
    % f"targets: [{RATE.replace('value: 4', 'value: 4, confidence: {method: bootstrap}')}]",
    "a graver severity": SERVER % f"targets: [{TAIL.replace('severity: warn', 'severity: fail')}]",
    "a smaller loss": SERVER % f"targets: [{CHANGE.replace('-3', '1')}]",
    "a stricter goodput": SERVER
    % "goodput: {slo: {ttft_ms: 700, tpot_ms: 50, e2e_ms: 9000}, min_fraction: 0.9}",
    "one more target": SERVER % "targets: ['ttfb:mean<1s']",
    "one more note": SERVER % "notes: ours",
    "a flat file": "targets: ['error<1%']\nvalidity: {min_duration_s: 60}\n",
    "any scenario": "models: {'*': {scenarios: {'*': {validity: {min_samples: 900}}}}}\n",
    "more samples": SERVER % "validity: {min_samples: 501, max_error_rate: 0, min_passes: 2}",
    "nothing that only warns": SERVER % "validity: {warn: []}",
    "fewer in flight": "models: {m-8b: {scenarios: {closed: {load: {concurrency: {min: 8, max: 16}}}}}}\n",
    "an alias": "models: {m-8b: {aliases: [our-model]}}\n",
    "more runs": "models: {m-8b: {accuracy: [{metric: ROUGE1, min: {abs: 38.5}, runs: 6}]}}\n",
    "a narrower range": SERVER
    % "audit: [{osl_range: [120, 180]}, {output_caching: {threshold: 0.05}}, salt]",
    "one more seed": "seeds: {sample_index: 7}\n",
    "one more setting": "models: {m-8b: {generation: {temperature: 0}, dataset: {sha256: ab}}}\n",
    "a default that was not said": "definitions: {percentile_method: linear}\n",
    "another default": "baseline: {test: mann_whitney}\n",
    "a reference where none was": "baseline: {ref: main}\n",
    "more points": "sweep: {points: {min: 9, max: 32, require: [{region: low, min: 3}]}}\n",
    "one more region": "sweep: {points: {require: [{region: high, min: 1}]}}\n",
    "a smaller drift": "steady_state: {min_blocks: 5, max_drift: 0.04}\n",
    "a smaller effect": "baseline: {min_effect: 0.01, min_runs: 6, metrics: {ttft.p95: lower}}\n",
    "another output": "report: {junit: true}\n",
}


@pytest.mark.parametrize("case", TIGHTER)
def test_what_a_lock_takes(case: str, house: Path) -> None:
    """Each change is accepted, and is not an override."""
    book = read(written(house, TIGHTER[case]))
    assert len(book.rulesets) == 2
    assert all(ruleset.overrides == () for ruleset in book.rulesets.values())


LOOSER = {
    "a looser bound": (
        SERVER % f"targets: [{TTFT.replace('value: 2', 'value: 3')}]",
        "'ttft'",
        "is looser",
    ),
    "at most for below": (SERVER % f"targets: [{TTFT.replace('<', '<=')}]", "'ttft'", "is looser"),
    "another percentile": (SERVER % f"targets: [{TTFT.replace('p99', 'p90')}]", "'ttft'", "another figure"),
    "other tags": (SERVER % f"targets: [{RATE.replace('long', 'short')}]", "'rate'", "another figure"),
    "no tags": (
        SERVER % "targets: [{id: rate, metric: qps, op: '>=', value: 4}]",
        "'rate'",
        "another figure",
    ),
    "a milder severity": (
        SERVER % f"targets: [{TAIL.replace('warn', 'info')}]",
        "'tail'",
        "severity is warn",
    ),
    "a lenient gap": (
        SERVER % f"targets: [{TAIL.replace('severity: warn', 'severity: warn, on_missing: skip')}]",
        "'tail'",
        "its on_missing is fail",
    ),
    "no proof": (
        SERVER % "targets: [{id: ttft, metric: ttft, stat: p99, op: '<', value: 2, unit: s}]",
        "'ttft'",
        "its confidence is by early_stopping",
    ),
    "the test": (
        SERVER % f"targets: [{TTFT.replace('estimate', 'test')}]",
        "'ttft'",
        "stricter than the test",
    ),
    "a lower confidence": (
        SERVER % f"targets: [{TTFT.replace('estimate', 'estimate, level: 0.95')}]",
        "'ttft'",
        "its confidence is 0.99",
    ),
    "a test of a change": (
        SERVER
        % f"targets: [{CHANGE.replace('delta: true', 'delta: true, confidence: {method: mann_whitney}')}]",
        "'change'",
        "a test would let a change pass",
    ),
    "a greater loss": (SERVER % f"targets: [{CHANGE.replace('-3', '-4')}]", "'change'", "is looser"),
    "a looser goodput": (
        SERVER % "goodput: {slo: {ttft_ms: 900, tpot_ms: 50}, min_fraction: 0.9}",
        "'goodput.fraction'",
        "another figure",
    ),
    "a goodput of less": (
        SERVER % "goodput: {slo: {ttft_ms: 800}, min_fraction: 0.9}",
        "'goodput.fraction'",
        "another figure",
    ),
    "fewer samples": (
        SERVER % "validity: {min_samples: 499}",
        "'validity.min_samples'",
        "at least 500",
    ),
    "more errors": (SERVER % "validity: {max_error_rate: 0.02}", "'validity.max_error_rate'", "at most 0.01"),
    "a rule that only warns": (
        SERVER % "validity: {warn: [min_samples]}",
        "'validity.warn'",
        "only warns of",
    ),
    "no streaming": (SERVER % "validity: {streaming: any}", "'validity.streaming'", "required"),
    "no whole passes": (
        SERVER % "validity: {dataset_multiple: false}",
        "'validity.dataset_multiple'",
        ": true;",
    ),
    "a dropped target": (SERVER % "drop: [tail]", "'tail'", "dropped"),
    "a dropped rule": (SERVER % "drop: [audit.osl_range]", "'audit.osl_range'", "dropped"),
    "another definition": (
        "definitions: {latency_origin: issued}\n",
        "'definitions.latency_origin'",
        "scheduled",
    ),
    "one not said": (
        "definitions: {percentile_method: lower}\n",
        "'definitions.percentile_method'",
        "is linear",
    ),
    "another seed": ("seeds: {schedule: 1}\n", "'seeds.schedule'", "16159082839903944936"),
    "another pattern": (SERVER % "load: {pattern: constant, rate: 5}", "'load.pattern'", "poisson"),
    "another rate": (SERVER % "load: {rate: 4}", "'load.rate'", "5"),
    "more in flight": (
        "models: {m-8b: {scenarios: {closed: {load: {concurrency: {min: 4, max: 64}}}}}}\n",
        "'load.concurrency'",
        "min 4, max 32",
    ),
    "points for a range": (
        "models: {m-8b: {scenarios: {closed: {load: {concurrency: {from: 4, to: 32, factor: 2}}}}}}\n",
        "'load.concurrency'",
        "min 4, max 32",
    ),
    "another dataset": (
        "models: {m-8b: {dataset: {perf_samples: 10}}}\n",
        "'dataset.perf_samples'",
        "100",
    ),
    "longer answers": (
        "models: {m-8b: {generation: {max_new_tokens: 64}}}\n",
        "'generation.max_new_tokens'",
        "performance 128, accuracy 256",
    ),
    "open settings": ("models: {m-8b: {generation: {locked: false}}}\n", "'generation.locked'", "true"),
    "a lower score": (
        "models: {m-8b: {accuracy: [{metric: ROUGE1, min: {abs: 38}, runs: 5}]}}\n",
        "'accuracy.ROUGE1'",
        "is looser",
    ),
    "fewer runs": (
        "models: {m-8b: {accuracy: [{metric: ROUGE1, min: {abs: 39}, runs: 4}]}}\n",
        "'accuracy_runs.accuracy.ROUGE1'",
        "at least 5",
    ),
    "the mean of runs": (
        "models: {m-8b: {accuracy: [{metric: ROUGE1, min: {abs: 39}, runs: 5, combine: mean}]}}\n",
        "'accuracy_runs.accuracy.ROUGE1'",
        "each of 5 runs",
    ),
    "a wider range": (
        SERVER % "audit: [{osl_range: [90, 200]}]",
        "'audit.osl_range'",
        "its min: at least 100",
    ),
    "a greater threshold": (
        SERVER % "audit: [{output_caching: {threshold: 0.2}}]",
        "'audit.output_caching'",
        "its threshold: at most 0.1",
    ),
    "one score for all": (
        SERVER % "audit: [{perf_mode_accuracy: {metric: ROUGE1, min: 1}}]",
        "'audit.perf_mode_accuracy'",
        "first gate of accuracy",
    ),
    "no steady state": ("steady_state: {required: false}\n", "'steady_state.required'", "true"),
    "fewer blocks": ("steady_state: {min_blocks: 3}\n", "'steady_state.min_blocks'", "at least 4"),
    "more drift": ("steady_state: {max_drift: 0.06}\n", "'steady_state.max_drift'", "at most 0.05"),
    "another test": ("baseline: {test: tost}\n", "'baseline.test'", "mann_whitney"),
    "a greater effect": ("baseline: {min_effect: 0.1}\n", "'baseline.min_effect'", "at most 0.03"),
    "the other way": (
        "baseline: {metrics: {osl.mean: lower}}\n",
        "'baseline.metrics.osl.mean'",
        "higher, not lower",
    ),
    "fewer points": ("sweep: {points: {min: 7}}\n", "'sweep.points.min'", "at least 8"),
    "fewer in a region": (
        "sweep: {points: {require: [{region: low, min: 1}]}}\n",
        "'sweep.points.require.low'",
        "at least 2",
    ),
    "a looser check": (
        "sweep: {checks: [{tps_per_user_consistency: 0.1}]}\n",
        "'sweep.checks.tps_per_user_consistency'",
        "0.01",
    ),
    "points that are counted otherwise": (
        "sweep: {points: {regions: mlperf_endpoints}}\n",
        "'sweep.points.regions'",
        "where none may stand for Offline",
    ),
    "a coarser search": (
        "sweep: {search: {tolerance: 0.5}}\n",
        "'sweep.search.tolerance'",
        "its tolerance is left at the default",
    ),
    "a tokenizer": (
        "definitions: {tokens: {tokenizer: gpt2}}\n",
        "'definitions.tokenizer'",
        "its tokenizer is left open",
    ),
    "only shown": (
        "targets: [{id: ttft, metric: ttft, stat: p99, severity: info}]\n",
        "'ttft'",
        "and ttft:p(99)!info is looser",
    ),
    "other power": ("power: {source: nvml}\n", "'power.source'", "wall"),
}


@pytest.mark.parametrize("case", LOOSER)
def test_what_a_lock_refuses(case: str, house: Path) -> None:
    """The message names file, line, the rule, the locked ruleset and what it says."""
    text, rule, why = LOOSER[case]
    with pytest.raises(RulesetFileError) as refused:
        read(written(house, text))
    message = str(refused.value)
    assert message.startswith(f"{house / 'ours.yaml'}:3: ")
    assert f"loosens {rule} of house 1, which is locked: " in message
    assert why in message


def test_a_lock_holds_through_a_file_between(house: Path) -> None:
    """What the file between tightened may be loosened again, and what is locked not."""
    between = written(house, SERVER % "validity: {min_samples: 900}")
    between.rename(house / "between.yaml")
    path = house / "last.yaml"
    path.write_text(HEAD.replace("house", "between") + SERVER % "validity: {min_samples: 600}")
    rules = load(path, scenario="server")
    assert rules.validity.min_samples == 600
    assert rules.locked
    assert rules.overrides == ("validity.min_samples: 600 instead of 900",)
    path.write_text(HEAD.replace("house", "between") + SERVER % "validity: {min_samples: 400}")
    with pytest.raises(RulesetFileError, match=r"loosens 'validity.min_samples' of house 1"):
        load(path, scenario="server")


def test_changes_of_what_is_open_are_listed(house: Path) -> None:
    """Replaced, dropped, other definitions; an addition is not a change."""
    path = house / "ours.yaml"
    path.write_text(
        HEAD.replace("house", "open")
        + "definitions: {percentile_method: lower}\n"
        + SERVER
        % (
            "targets: [{id: tail, metric: itl, stat: max, op: '<', value: 9, unit: s}, 'qps>1'], "
            "drop: [change, audit.output_caching], load: {pattern: concurrency, concurrency: 8}"
        )
    )
    rules = load(path, scenario="server")
    assert rules.overrides == (
        "tail: itl:max<9s instead of itl:max<=1s!warn",
        "change: dropped (output_tps:value:delta>-3%)",
        "load.pattern: concurrency instead of poisson",
        "load.rate: dropped (5)",
        "audit.output_caching: dropped (threshold 0.1)",
        "definitions.percentile_method: lower instead of linear",
    )
    assert rules.load is not None
    assert (rules.load.rate, dict(rules.load.concurrency)) == (None, {"min": 8, "max": 8})
    assert [audit.name for audit in rules.audits] == ["osl_range", "perf_mode_accuracy"]
    assert not rules.locked


def test_models_and_scenarios_can_be_added_to_what_is_open(house: Path) -> None:
    """They have what is shared, and nothing of other models."""
    path = house / "ours.yaml"
    new = "{load: {pattern: constant}, targets: ['qps>9']}"
    path.write_text(
        HEAD.replace("house", "open")
        + f"models: {{n: {{scenarios: {{x: {new}}}}}, M-8B: {{scenarios: {{x: {new}}}}}}}\n"
    )
    book = read(path)
    assert list(book.rulesets) == [("m-8b", "server"), ("m-8b", "closed"), ("m-8b", "x"), ("n", "x")]
    added = book.rulesets["n", "x"]
    assert [target.id for target in added.targets] == ["qps:value>9req/s"]
    assert added.definitions.latency_origin == "scheduled"
    assert book.rulesets["m-8b", "x"].dataset.name == "questions"


def test_a_new_model_is_one_of_any(tmp_path: Path) -> None:
    """What is said for `*` holds for a model that a file names, and may be tightened for it."""
    (tmp_path / "any.yaml").write_text(
        "schema: rulesets/1\nruleset: {name: any, version: a, locked: true}\n"
        "models: {'*': {scenarios: {s: {targets: [{id: x, metric: qps, op: '>', value: 1}]}}}}\n"
    )
    path = tmp_path / "ours.yaml"
    ours = "models: {m: {scenarios: {s: {targets: [{id: x, metric: qps, op: '>', value: %d}]}}}}\n"
    path.write_text(HEAD.replace("house", "any") + ours % 2)
    assert load(path, model="m").targets[0].value == 2
    assert load(path, model="other").targets[0].value == 1
    path.write_text(HEAD.replace("house", "any") + ours % 0)
    with pytest.raises(RulesetFileError, match="loosens 'x' of any a"):
        load(path, model="other")


def test_flat_files_extend_flat_files(tmp_path: Path) -> None:
    """The scenario has no name, as in one that extends nothing."""
    (tmp_path / "house.yaml").write_text(
        "schema: rulesets/1\nruleset: {name: a, version: b}\ntargets: [qps>1]\n"
    )
    path = tmp_path / "ours.yaml"
    path.write_text(HEAD + "targets: ['error<1%']\n")
    rules = load(path)
    assert ([target.metric for target in rules.targets], rules.scenario) == (["qps", "error"], "")
