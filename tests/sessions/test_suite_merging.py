"""The precedence of option values: flags, the environment, load, benchmark, model, defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.layers import SuiteLayer, above, merged
from loadgen.sessions.series.suite.matrix import Choice, MatrixRun, matrix
from loadgen.sessions.series.suite.mistakes import suite_of
from loadgen.sessions.series.suite.secret_variables import named, secrets_of, unset
from loadgen.sessions.series.suite.source_lines import SuiteSource
from loadgen.sessions.settings.concerns import flat_values

NAMES = st.sampled_from(["max_tokens", "requests", "timeout", "seed", "temperature"])
VALUES = st.dictionaries(NAMES, st.integers(1, 99))
PLACES = ("defaults", "models", "benchmarks", "loads", "environment", "--set")


def entries(tables: dict[str, Any], *flags: SuiteLayer) -> tuple[MatrixRun, ...]:
    """The runs of a file that says these tables."""
    source = SuiteSource(Path("s.toml"), "", tables)
    return matrix(source, suite_of(source), flags, Choice())


@given(st.lists(VALUES, min_size=1, max_size=6))
def test_the_last_layer_with_a_value_wins(layers: list[dict[str, int]]) -> None:
    """For each option by itself; the origin of each value is recorded."""
    whole = merged(SuiteLayer(str(number), values) for number, values in enumerate(layers))
    for name in {name for values in layers for name in values}:
        sayers = [number for number, values in enumerate(layers) if name in values]
        assert whole.values[name] == layers[sayers[-1]][name]
        assert whole.origins[name] == tuple(map(str, sayers))
    assert whole.values.keys() == whole.origins.keys() == {name for values in layers for name in values}


@given(st.fixed_dictionaries(dict.fromkeys(PLACES, VALUES)))
def test_each_place_of_a_file_has_its_rank(by_place: dict[str, dict[str, int]]) -> None:
    """Defaults, model, benchmark, load, environment, flags: the run has the value of the last of them."""
    tables = {
        "defaults": {"url": "http://host", **by_place["defaults"]},
        "models": [{"name": "a", **by_place["models"]}],
        "benchmarks": [{"name": "b", "salt": True, **by_place["benchmarks"]}],
        "loads": [{"name": "c", **by_place["loads"]}],
    }
    flags = [SuiteLayer(place, by_place[place]) for place in ("environment", "--set")]
    (entry,) = entries(tables, *flags)
    for name in {name for values in by_place.values() for name in values}:
        expected = next(by_place[place][name] for place in reversed(PLACES) if name in by_place[place])
        assert flat_values(entry.settings)[name] == expected


def test_a_flag_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the environment before the file."""
    tables = {"models": [{"name": "a", "url": "http://file"}]}
    monkeypatch.setenv("LOADGEN_URL", "http://environment")
    (entry,) = entries(tables, *above([], {}))
    assert "environment" in str(entry.settings.endpoint.url)
    (entry,) = entries(tables, *above(["url=http://flag"], {}))
    assert "flag" in str(entry.settings.endpoint.url)
    assert entry.merged.origins["url"] == ("[[models]] 1 (a)", "LOADGEN_URL", "--set")


def test_flags_are_read_as_the_command_line_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Durations, booleans and lists; a file is looked for where the command runs."""
    monkeypatch.chdir(tmp_path)
    sets = ["timeout=2m", "stream=false", "--max-tokens=8", "tag=x", "tag=y", "corpus=words.txt"]
    layers = above(sets, {"requests": 5, "duration": None})
    assert [(layer.name, layer.values) for layer in layers] == [
        ("--requests", {"requests": 5}),
        (
            "--set",
            {
                "timeout": 120.0,
                "stream": False,
                "max_tokens": 8,
                "tag": ["x", "y"],
                "corpus": tmp_path / "words.txt",
            },
        ),
    ]


@pytest.mark.parametrize(
    ("sets", "named", "complaint"),
    [
        (["max-tokens"], {}, "write KEY=VALUE"),
        (["max-tokns=1"], {}, "the option does not exist; did you mean 'max_tokens'"),
        (["max-tokens=many"], {}, "--set max-tokens: must be a whole number, not 'many'"),
        (["stream=perhaps"], {}, "must be true or false"),
        (["requests=1", "requests=2"], {}, "given twice"),
        (["requests=1"], {"requests": 2}, "--requests and --set requests=…: give it once"),
        (["api-key=sk-1"], {}, "name the environment variable"),
        (["model=x"], {}, r"only \[\[models\]\]"),
    ],
)
def test_flags_that_make_no_sense_are_refused(sets: list[str], named: dict[str, Any], complaint: str) -> None:
    """With the flag, and what to do."""
    with pytest.raises(UsageError, match=complaint):
        above(sets, named)


def test_contradictory_options_are_reported_with_their_origins() -> None:
    """They may be in different tables."""
    tables = {
        "defaults": {"url": "http://host", "concurrency": 8},
        "models": [{"name": "a"}],
        "loads": [{"name": "open", "rate": 5}],
    }
    with pytest.raises(
        UsageError, match=r"s\.toml: a / default / open: --concurrency and --rate contradict"
    ) as refused:
        entries(tables)
    assert "concurrency is set by [defaults], rate is set by [[loads]] 1 (open)" in str(refused.value)


@pytest.mark.parametrize("table", ["gate", "judge"])
def test_requirements_of_the_gate_hold_for_every_run(table: str) -> None:
    """Those of a table are added to them; one's ruleset goes before the gate's. [judge] had them once."""
    tables = {
        "defaults": {"url": "http://host", "require": ["qps>1"]},
        table: {"require": "error<1%", "ruleset": "all.yaml"},
        "models": [{"name": "a"}, {"name": "b", "require": ["qps>2"], "ruleset": "b.yaml"}],
    }
    a, b = entries(tables)
    assert a.settings.verdict.require == ["error<1%", "qps>1"]
    assert b.settings.verdict.require == ["error<1%", "qps>2"]
    assert [a.settings.verdict.ruleset, b.settings.verdict.ruleset] == [
        str(Path.cwd() / name) for name in ("all.yaml", "b.yaml")
    ]


def test_the_judge_is_for_runs_that_ask_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its key is in a variable of the environment; the table of a run takes precedence."""
    tables: dict[str, Any] = {
        "defaults": {"url": "http://host"},
        "judge": {
            "url": "http://judge",
            "model": "gpt",
            "temperature": 0.5,
            "max_tokens": 99,
            "api_key_env": "JUDGE_KEY",
            "require": "error<1%",
        },
        "gate": {"require": "qps>1"},
        "models": [{"name": "a"}],
        "benchmarks": [
            {"name": "chat", "salt": True},
            {"name": "asks", "task": "simpleqa", "judge_model": "own"},
        ],
    }
    plain, asks = entries(tables)
    assert (plain.settings.tasks.judge.judge_url, plain.judge_key_env) == (None, "")
    judge = asks.settings.tasks.judge
    assert (judge.judge_url, judge.judge_model) == ("http://judge", "own")
    assert (judge.judge_temperature, judge.judge_max_tokens) == (0.5, 99)
    assert plain.settings.verdict.require == ["error<1%", "qps>1"]
    secrets = secrets_of(named([plain, asks]), None)
    assert unset(named([plain, asks])) == ["JUDGE_KEY"]
    with pytest.raises(UsageError, match="JUDGE_KEY, which the suite names, is not set"):
        secrets(asks.name)
    monkeypatch.setenv("JUDGE_KEY", "sk-of-the-judge")
    assert secrets(asks.name).judge_api_key == "sk-of-the-judge"
    assert secrets(plain.name).judge_api_key is None


def test_keys_of_other_tools_mean_what_they_mean_there() -> None:
    """max_workers of [run] is for the runs of which no table says a load."""
    tables: dict[str, Any] = {
        "run": {"max_workers": 4, "warmup_samples": 3, "seed": 7, "output_dir": "there"},
        "defaults": {"url": "http://host", "num_gpus": 2},
        "models": [{"name": "a"}],
        "loads": [{"name": "users"}, {"name": "open", "rate": 5}, {"name": "few", "max-workers": 1}],
    }
    users, open_loop, few = (entry.settings for entry in entries(tables))
    assert (users.load.concurrency, users.load.warmup, users.load.seed, users.endpoint.gpus) == (4, "3", 7, 2)
    assert (open_loop.load.concurrency, open_loop.load.rate) == (None, "5")
    assert few.load.concurrency == 1
    assert suite_of(SuiteSource(Path("s.toml"), "", tables)).run.out == "there"


def test_files_are_looked_for_next_to_the_suite(tmp_path: Path) -> None:
    """Wherever the command runs; a dataset of the hub and the name of a tokenizer are not files."""
    tables = {
        "models": [{"name": "a", "url": "http://host"}],
        "benchmarks": [
            {"name": "file", "prompts": "questions.jsonl"},
            {"name": "hub", "prompts": "hf:some/set"},
            {"name": "made", "input_tokens": "histogram:lengths.csv", "tokenizer": "gpt2"},
        ],
    }
    source = SuiteSource(tmp_path / "s.toml", "", tables)
    file, hub, made = matrix(source, suite_of(source), (), Choice())
    assert file.settings.prompts.prompts == str(tmp_path / "questions.jsonl")
    assert hub.settings.prompts.prompts == "hf:some/set"
    assert made.settings.prompts.input_tokens == f"histogram:{tmp_path / 'lengths.csv'}"
    assert made.settings.prompts.tokenizer == "gpt2"
