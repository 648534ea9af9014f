"""Rulesets from YAML files and from short forms."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import (
    ExpressionError,
    Ruleset,
    RulesetError,
    RulesetFileError,
    Target,
    ValidityDemand,
    load,
    of_expressions,
    parse,
)
from rulesets.catalog import names
from rulesets.errors import suggestion
from rulesets.loading import read

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'schema: rulesets/1\nruleset: {name: ci, version: "3"}\n'
"""Lines 1 and 2 of a ruleset that is right so far."""


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    """Short and written-out targets, the validity and the sources all arrive."""
    path = tmp_path / "gate.yaml"
    path.write_text(
        """\
schema: rulesets/1
ruleset:
  name: chat
  version: "3"
  source: [agreed with product, "https://example.com/slo"]
validity: {max_error_rate: 0.01, min_samples: 500, min_duration_s: 120}
targets:
  - ttft:p(95) < 800ms
  - id: mean-tpot
    metric: tpot
    stat: avg
    op: "<="
    value: 40
    unit: ms
    severity: warn
    source: SLO 7
  - {metric: rps, op: ">=", value: 2.5}
"""
    )
    assert load(path) == Ruleset(
        name="chat",
        version="3",
        targets=(
            Target("ttft", "p95", "<", 800.0, "ms", id="ttft:p(95)<800ms"),
            Target("tpot", "mean", "<=", 40.0, "ms", "warn", "SLO 7", id="mean-tpot"),
            Target("qps", "value", ">=", 2.5, "req/s", id="qps:value>=2.5req/s"),
        ),
        validity=ValidityDemand(max_error_rate=0.01, min_samples=500, min_duration_s=120.0),
        source=("agreed with product", "https://example.com/slo"),
    )


def test_validity_and_sources_can_be_left_out(tmp_path: Path) -> None:
    """A ruleset needs a name, a version and one target; one source need not be a list."""
    path = tmp_path / "gate.yaml"
    path.write_text("schema: rulesets/1\nruleset: {name: a, version: b, source: c}\ntargets: [qps>1]\n")
    assert load(str(path)) == Ruleset("a", "b", (parse("qps>1"),), source=("c",))


MISTAKES = {
    "a key too many": (
        HEAD + "target: [qps>1]\n",
        "gate.yaml:3: unknown key 'target' here; did you mean 'targets'?",
    ),
    "no targets": (
        HEAD,
        "gate.yaml:1: demands nothing, and a gate without a target would pass everything; give targets",
    ),
    "an empty list": (
        HEAD + "targets: []\n",
        "gate.yaml:3: targets: is empty, and a gate without a target would pass everything",
    ),
    "targets without a list": (
        HEAD + "targets: qps>1\n",
        "gate.yaml:3: targets: must be a list, not 'qps>1'",
    ),
    "a key twice": (
        HEAD + "targets: [qps>1]\n\ntargets: [qps>2]\n",
        "gate.yaml:5: the key 'targets' stands twice, first on line 3",
    ),
    "a list for a file": (
        "- qps>1\n",
        (
            "gate.yaml:1: must hold keys and values (schema, ruleset, targets, validity, load, goodput, "
            "options, dataset, generation, accuracy, audit, drop, models, definitions, seeds, steady_state, "
            "baseline, sweep, power, report), not a list"
        ),
    ),
    "a later schema": (
        "schema: rulesets/2\nruleset: {name: a, version: b}\ntargets: [qps>1]\n",
        "gate.yaml:1: schema: is 'rulesets/2', and this version reads 'rulesets/1'",
    ),
    "a version that is a number": (
        "schema: rulesets/1\nruleset: {name: a, version: 1.10}\ntargets: [qps>1]\n",
        'gate.yaml:2: ruleset.version: must be text; put it in quotes: "1.10"',
    ),
    "a version that is an impossible date": (
        "schema: rulesets/1\nruleset: {name: a, version: 2026-13-45}\ntargets: [qps>1]\n",
        'gate.yaml:2: ruleset.version: must be text; put it in quotes: "2026-13-45"',
    ),
    "no name": (
        "schema: rulesets/1\nruleset: {name: , version: b}\ntargets: [qps>1]\n",
        "gate.yaml:2: ruleset.name: is empty; text that begins with > or | needs quotes",
    ),
    "a name that is a list": (
        "schema: rulesets/1\nruleset: {name: [a], version: b}\ntargets: [qps>1]\n",
        "gate.yaml:2: ruleset.name: must be text, not a list",
    ),
    "a short form that is wrong": (
        HEAD + "targets:\n  - qps>1\n  - ttf:p(99)<1s\n",
        "gate.yaml:5: targets[1]: 'ttf:p(99)<1s', column 1: unknown metric 'ttf'; did you mean 'ttft'?",
    ),
    "a blank behind the colon": (
        HEAD + "targets:\n  - ttft: p(99)<1s\n",
        (
            "gate.yaml:4: targets[0]: unknown key 'ttft' here; choose one of "
            "id, metric, where, stat, op, value, unit, delta, conditions, confidence, severity, on_missing, "
            "source or note"
        ),
    ),
    "a number for a target": (
        HEAD + "targets:\n  - 5\n",
        'gate.yaml:4: targets[0]: must be text; put it in quotes: "5"',
    ),
    "a misspelt key": (
        HEAD + "targets:\n  - metric: qps\n    opp: '>'\n    value: 1\n",
        "gate.yaml:5: targets[0]: unknown key 'opp' here; did you mean 'op'?",
    ),
    "a key that is no text": (
        HEAD + "targets:\n  - ? [metric]\n    : qps\n",
        (
            "gate.yaml:4: targets[0]: unknown key 'a list' here; choose one of "
            "id, metric, where, stat, op, value, unit, delta, conditions, confidence, severity, on_missing, "
            "source or note"
        ),
    ),
    "no operator": (
        HEAD + "targets:\n  - {metric: qps, value: 1}\n",
        "gate.yaml:4: targets[0]: the key 'op' is missing",
    ),
    "a bare >": (
        HEAD + "targets:\n  - metric: qps\n    op: >\n    value: 1\n",
        "gate.yaml:5: targets[0].op: is empty; text that begins with > or | needs quotes",
    ),
    "a bare >=": (
        HEAD + "targets:\n  - metric: qps\n    op: >=\n    value: 1\n",
        (
            "gate.yaml:5: is not YAML here: expected chomping or indentation indicators, but found '='; "
            'put an operator in quotes: ">="'
        ),
    ),
    "a bare %": (
        HEAD + 'targets:\n  - {metric: error, op: "<", value: 1, unit: %}\n',
        "gate.yaml:4: is not YAML here: found character '%' that cannot start any token; put it in quotes",
    ),
    "a wrong statistic": (
        HEAD + "targets:\n  - metric: ttft\n    stat: p100\n    op: <\n    value: 1\n    unit: s\n",
        ("gate.yaml:5: targets[0].stat: a percentile is between 0 and 100, and 100 is not; there is max"),
    ),
    "a missing unit": (
        HEAD + "targets:\n  - metric: ttft\n    stat: p99\n    op: <\n    value: 500\n",
        "gate.yaml:4: targets[0]: 500 of what? ttft needs a unit: us, ms, s or m",
    ),
    "a unit in the number": (
        HEAD + "targets:\n  - {metric: ttft, stat: p99, op: <, value: 500ms}\n",
        "gate.yaml:4: targets[0].value: must be a plain number, without unit or quotes, not '500ms'",
    ),
    "a truth for a number": (
        HEAD + "targets:\n  - {metric: qps, op: '>', value: true}\n",
        "gate.yaml:4: targets[0].value: must be a plain number, without unit or quotes, not 'true'",
    ),
    "no value": (
        HEAD + "targets:\n  - metric: qps\n    op: '>'\n    value:\n",
        "gate.yaml:6: targets[0].value: must be a plain number, without unit or quotes, not nothing",
    ),
    "an infinite value": (
        HEAD + "targets:\n  - {metric: qps, op: '>', value: .inf}\n",
        "gate.yaml:4: targets[0].value: must be a finite number, not '.inf'",
    ),
    "a value that is not a number": (
        HEAD + "targets:\n  - {metric: qps, op: '>', value: .nan}\n",
        "gate.yaml:4: targets[0].value: must be a finite number, not '.nan'",
    ),
    "a tag that lies": (
        HEAD + "targets:\n  - {metric: qps, op: '>', value: !!int ten}\n",
        "gate.yaml:4: targets[0].value: must be a finite number, not 'ten'",
    ),
    "a list that lies": (
        HEAD + "targets:\n  - {metric: qps, op: '>', value: !!float [10]}\n",
        "gate.yaml:4: targets[0].value: must be a finite number, not a list",
    ),
    "a number without end": (
        HEAD + f"targets:\n  - {{metric: qps, op: '>', value: {10**400}}}\n",
        f"gate.yaml:4: targets[0].value: must be a finite number, not '{10**400}'",
    ),
    "a value on the next line": (
        HEAD + "targets:\n  - metric: qps\n    op: '>'\n    value:\n      fast\n",
        "gate.yaml:6: targets[0].value: must be a plain number, without unit or quotes, not 'fast'",
    ),
    "a tag of Python": (
        HEAD + "targets: !!python/object/apply:os.getcwd []\n",
        "gate.yaml:3: targets: is empty, and a gate without a target would pass everything",
    ),
    "an id twice": (
        HEAD + "targets:\n  - qps>1\n  - qps:value > 1.0 req/s\n",
        "gate.yaml:5: targets[1]: the id 'qps:value>1req/s' stands twice, first on line 4",
    ),
    "an unknown validity": (
        HEAD + "targets: [qps>1]\nvalidity:\n  min_sample: 5\n",
        "gate.yaml:5: validity: unknown key 'min_sample' here; did you mean 'min_samples'?",
    ),
    "no sample": (
        HEAD + "targets: [qps>1]\nvalidity:\n  min_samples: 0\n",
        "gate.yaml:5: validity.min_samples: must be a whole number from 1 up, not 0",
    ),
    "half a sample": (
        HEAD + "targets: [qps>1]\nvalidity:\n  min_samples: 2.5\n",
        "gate.yaml:5: validity.min_samples: must be a whole number from 1 up, not 2.5",
    ),
    "a rate in percent": (
        HEAD + "targets: [qps>1]\nvalidity: {max_error_rate: 1}\n",
        (
            "gate.yaml:4: validity.max_error_rate: must be a fraction from 0 to below 1 "
            "(0.01 is one in a hundred), not 1"
        ),
    ),
    "no time at all": (
        HEAD + "targets: [qps>1]\nvalidity: {min_duration_s: 0}\n",
        "gate.yaml:4: validity.min_duration_s: must be a number of seconds above 0, not 0",
    ),
    "an open bracket": (
        HEAD + "targets: [qps>1\n",
        "gate.yaml:4: is not YAML here: expected ',' or ']', but got '<stream end>'",
    ),
    "two documents": (
        HEAD + "targets: [qps>1]\n---\n" + HEAD,
        "gate.yaml:4: is not YAML here: but found another document",
    ),
    "an alias of nothing": (
        HEAD + "targets: *gone\n",
        "gate.yaml:3: is not YAML here: found undefined alias 'gone'",
    ),
    "nothing": ("", "gate.yaml: is empty; a ruleset begins with 'schema: rulesets/1'"),
    "only a comment": ("# later\n", "gate.yaml: is empty; a ruleset begins with 'schema: rulesets/1'"),
    "too many brackets": ("[" * 5_000, "gate.yaml: is nested too deeply for a ruleset"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_named_with_file_line_and_key(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says which file, line and key is wrong, and what would be right."""
    monkeypatch.chdir(tmp_path)
    written, message = MISTAKES[case]
    (tmp_path / "gate.yaml").write_text(written)
    with pytest.raises(RulesetFileError) as refused:
        load("gate.yaml")
    assert str(refused.value) == message


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """A missing file, a folder, bytes that are not text and characters that YAML forbids are all named."""
    with pytest.raises(RulesetFileError, match=r"gone.yaml: cannot be read \(No such file or directory\)"):
        load(tmp_path / "gone.yaml")
    with pytest.raises(RulesetFileError, match=r"cannot be read \(Is a directory\)"):
        load(tmp_path)
    path = tmp_path / "gate.yaml"
    path.write_bytes(b"schema: \xff\n")
    with pytest.raises(RulesetFileError, match=r"gate.yaml: is not UTF-8 text \(byte 8\)"):
        load(path)
    path.write_bytes(b"schema: \x00\n")
    with pytest.raises(RulesetFileError, match=r"gate.yaml: is not YAML \(unacceptable character"):
        load(path)


@given(text=st.text(alphabet="schema:rultn/1[]{}-,'\"&*!<>=%?|#. \n0", max_size=60))
def test_no_text_breaks_the_reader_of_files(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """For any text, the reader raises an error that names the file."""
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text)
    with pytest.raises(RulesetFileError, match=r"any\.yaml"):
        load(path)


def test_a_list_that_contains_itself_is_read_to_its_end(tmp_path: Path) -> None:
    """An alias to its own list is a target of the wrong kind and no endless walk."""
    path = tmp_path / "gate.yaml"
    path.write_text(HEAD + "targets: &all [qps>1, *all]\n")
    with pytest.raises(RulesetFileError, match=r"targets\[1\]: must be text, not a list"):
        load(path)


def test_short_forms_make_a_ruleset() -> None:
    """The targets keep the order of the command line."""
    assert of_expressions(["qps>=10", "ttft:p(99)<500ms"]) == Ruleset(
        "command line", "", (parse("qps>=10"), parse("ttft:p(99)<500ms"))
    )


def test_the_same_short_form_twice_is_a_mistake() -> None:
    """Two spellings of one requirement are found to be the same."""
    with pytest.raises(ExpressionError, match=r"'rps>1\.0', column 1: is asked for twice; leave one out"):
        of_expressions(["qps>1", "rps>1.0"])


def test_short_forms_that_exclude_each_other_are_a_mistake() -> None:
    """As they are in a file: no run could pass. A warning may contradict any target."""
    with pytest.raises(ExpressionError, match=r"'completed>5', column 1: can never pass together with"):
        of_expressions(["completed<3", "completed>5"])
    assert len(of_expressions(["completed<3", "completed>5!warn", "failed>5"]).targets) == 3


def test_no_requirement_is_a_mistake() -> None:
    """A gate that asks for nothing is refused."""
    with pytest.raises(RulesetError, match="a gate without one would pass everything"):
        of_expressions([])


def test_short_forms_need_no_yaml() -> None:
    """The package is imported, and short forms are read, without loading the YAML reader."""
    program = "import sys, rulesets; rulesets.of_expressions(['qps>1']); sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_stored_rules_are_read_back() -> None:
    """They equal the ones that were stored."""
    rules = of_expressions(["ttft:p(99.9)<500ms", "error<1%", "failed==0"])
    rules = replace(rules, validity=ValidityDemand(0.1, 2, 3.0), source=("here",))
    assert Ruleset.of_dict(rules.to_dict()) == rules


def test_rules_stored_by_an_older_version_are_read() -> None:
    """They have name, version, targets, validity and sources, with fewer keys each."""
    stored = {
        "name": "chat",
        "version": "1",
        "targets": [
            {
                "metric": "ttft",
                "stat": "p99",
                "op": "<",
                "value": 2.0,
                "unit": "s",
                "severity": "fail",
                "source": "",
                "where": [],
                "id": "a",
            }
        ],
        "validity": {"max_error_rate": 0.05, "min_samples": 100, "min_duration_s": None},
        "source": [],
    }
    assert Ruleset.of_dict(stored) == Ruleset(
        "chat", "1", (Target("ttft", "p99", "<", 2.0, "s", id="a"),), ValidityDemand(0.05, 100)
    )


@pytest.mark.parametrize("name", names())
def test_every_ruleset_survives_a_log(name: str) -> None:
    """Through JSON and back it is the same, for all models and scenarios."""
    for ruleset in read(name).rulesets.values():
        stored = json.loads(json.dumps(ruleset.to_dict()))
        assert Ruleset.of_dict(stored) == ruleset


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 7},
        {"source": [None]},
        {"validity": {"min_samples": "many"}},
        {"validity": {"max_error_rate": 7}},
        {"validity": {"min_samples": True}},
        {"validity": {"patience": 7}},
        {"definitions": {"percentile_method": "guess"}},
        {"definitions": {"token_categories": "content"}},
        {"seeds": {"schedule": "seven"}},
        {"audits": [{"name": "luck"}]},
        {"load": {"rate": 5}},
        {"locked": "yes"},
        {"baseline": {"metrics": [1]}},
        {"luck": 7},
    ],
)
def test_invalid_stored_rules_are_refused(wrong: dict[str, object]) -> None:
    """When they are read, not when a report is evaluated."""
    stored = of_expressions(["ttft:p(99)<500ms"]).to_dict()
    with pytest.raises(RulesetError, match="the log's rules cannot be read"):
        Ruleset.of_dict(stored | wrong)


@pytest.mark.parametrize(
    "part", [{"value": "x"}, {"metric": []}, {"op": "=<"}, {"id": 7}, {"where": [[1, 2]]}, {"source": 7}]
)
def test_an_invalid_stored_target_is_refused(part: dict[str, object]) -> None:
    """As above."""
    stored = of_expressions(["ttft:p(99)<500ms"]).to_dict()
    stored["targets"] = [stored["targets"][0] | part]
    with pytest.raises(RulesetError, match="the log's rules cannot be read"):
        Ruleset.of_dict(stored)


def test_where_nothing_is_right_nothing_is_suggested() -> None:
    """There is no nearest one of none."""
    assert suggestion("x", []) == "there are none to choose from"
