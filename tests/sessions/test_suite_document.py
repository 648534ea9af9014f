"""What a suite's file may have, the messages for anything else, and the schema that editors read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite import suite_model
from loadgen.sessions.series.suite.after_run import trackers_of
from loadgen.sessions.series.suite.layers import elsewhere, options
from loadgen.sessions.series.suite.mistakes import suite_of
from loadgen.sessions.series.suite.source_lines import SuiteSource, read
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.file_values import read_value
from loadgen.sessions.settings.perf import PerfSettings

ROOT = Path(__file__).parents[2]
EXAMPLES = (
    ROOT / "examples" / "suite.toml",
    ROOT / "loadgen" / "sessions" / "series" / "suite" / "starter.toml",
)
A = {"name": "a"}


def source_of(**tables: Any) -> SuiteSource:
    """A file that says these tables."""
    return SuiteSource(Path("s.toml"), "", tables)


def valid(tables: Any) -> bool:
    """Whether the schema takes them."""
    return bool(Draft202012Validator(suite_model.schema()).is_valid(tables))


def test_every_option_of_perf_has_its_place() -> None:
    """A key of every table, or a word on what to do instead."""
    for name in fields_of(PerfSettings):
        assert (name in options()) != (elsewhere(name) is not None)


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("duration", "5m", 300.0),
        ("duration", 90, 90.0),
        ("max_error_rate", "10%", 0.1),
        ("max_response", "1MB", 1_000_000),
        ("rate", 20, "20"),
        ("rate", "ramp:1..50,60s", "ramp:1..50,60s"),
        ("concurrency", 8, 8),
        ("temperature", 0, 0.0),
        ("stream", False, False),
        ("offline", True, True),
        ("arrival", "constant", "constant"),
        ("extra_body", {"top_k": 3}, '{"top_k":3}'),
        ("extra_body", '{"top_k": 3}', '{"top_k": 3}'),
        ("url", ["http://a", "http://b"], ["http://a", "http://b"]),
        ("tag", "class", ["class"]),
        ("tag", ["class", "length"], ["class", "length"]),
        ("corpus", "words.txt", Path("words.txt")),
    ],
)
def test_values_are_read_as_the_command_line_reads_them(name: str, written: object, meant: object) -> None:
    """A number as it is, a text by the parser of the option; and the schema takes both."""
    assert read_value(options()[name], written) == meant
    assert valid({"models": [A], "loads": [{name: written}]})


@pytest.mark.parametrize(
    ("tables", "complaint"),
    [
        ({}, "there is no model: write [[models]] with a name and a url"),
        ({"models": []}, "there is no model: write [[models]] with a name and a url"),
        ({"models": A}, "[[models]]: must be a list of tables: write [[models]]"),
        ({"models": ["a"]}, "[[models]] 1: must be a table of keys and values"),
        ({"models": [{}]}, "[[models]] 1 name: is missing"),
        ({"models": [{"name": ""}]}, "[[models]] 1 () name: is empty"),
        ({"models": [{"name": 7}]}, "[[models]] 1 name: must be text, in quotes"),
        (
            {"models": [{"name": "a "}]},
            "[[models]] 1 (a ) name: has spaces around it, or control characters in it",
        ),
        ({"models": [A], "model": []}, "[model]: the key does not exist here"),
        (
            {"models": [A], "backend": {"external": {"api_key": "sk"}}},
            "[backend] external.api_key: a key does not belong into a file: name the environment variable",
        ),
        (
            {"models": [A], "backend": {"external": {"base_ulr": "x"}}},
            "the key does not exist here (base_url, api_key_env); did you mean 'base_url'?",
        ),
        ({"models": [A], "model": []}, "did you mean 'models'?"),
        (
            {"models": [{**A, "max-tokns": 8}]},
            "[[models]] 1 (a) max_tokns: the key does not exist here; did you mean 'max_tokens'?",
        ),
        ({"models": [{**A, "max-tokens": "many"}]}, "max_tokens: must be a whole number, not 'many'"),
        ({"models": [{**A, "max-tokens": 1.5}]}, "max_tokens: must be a whole number, not '1.5'"),
        ({"models": [{**A, "max-tokens": True}]}, "max_tokens: must be a whole number, not true or false"),
        ({"models": [{**A, "max-tokens": None}]}, "max_tokens: must be a whole number, not nothing"),
        (
            {"models": [{**A, "max-tokens": 8, "max_tokens": 9}]},
            "max_tokens is there twice, with - and with _",
        ),
        ({"models": [{**A, "stream": "no"}]}, "stream: must be true or false, not 'no'"),
        (
            {"models": [{**A, "protocol": "chats"}]},
            "protocol: cannot be read: 'chats' is not a protocol; did you mean 'chat'?; choose",
        ),
        ({"models": [{**A, "duration": "soon"}]}, "duration: cannot be read: 'soon' is not a duration"),
        ({"models": [{**A, "duration": -5}]}, "duration: cannot be read: '-5' is not a duration"),
        ({"models": [{**A, "extra_body": [1]}]}, "extra_body: must be text or a number, not a list"),
        (
            {"models": [{**A, "api_key": "sk-1"}]},
            'name the environment variable that holds it, e.g. api_key_env = "MY_KEY"',
        ),
        ({"models": [{**A, "header": ["X: 1"]}]}, "headers_env = "),
        (
            {"models": [{**A, "api_key_env": "sk-1"}]},
            "api_key_env: must be the name of an environment variable",
        ),
        (
            {"models": [{**A, "headers_env": {"X": "a b"}}]},
            "headers_env.X: must be the name of an environment variable",
        ),
        (
            {"models": [A], "defaults": {"model": "m"}},
            "[defaults] model: only [[models]] says which model is asked",
        ),
        (
            {"models": [A], "loads": [{"out": "x"}]},
            "[[loads]] 1 out: the folder of all runs is out in [run], or --out",
        ),
        (
            {"models": [A], "gate": {"requires": "m"}},
            "[gate] requires: the key does not exist here (require, ruleset, scenario, skip, inconclusive)",
        ),
        (
            {"models": [A], "gate": {"model": "m"}},
            "[gate] model: [gate] has the rules for runs; the LLM that judges answers is confi",
        ),
        (
            {"models": [A], "judge": {"engine": "vllm"}},
            "[judge] engine: the judge is any endpoint of the OpenAI protocol: write url = ",
        ),
        (
            {"models": [{**A, "engine": "vllm", "provider": "x"}]},
            "[[models]] 1 (a) engine: a model is asked at its url: leave it out",
        ),
        (
            {"models": [A], "benchmarks": [{"name": "gsm8k", "backend": "hermes", "tools": ["web", "bash"]}]},
            '(gsm8k) backend: write agent_command = "@hermes --tools web,bash"; see `loadgen list agents`',
        ),
        (
            {"models": [A], "benchmarks": [{"name": "gsm8k", "tools": "calculator"}]},
            '(gsm8k) tools: write agent_command = "@tools calculator"',
        ),
        (
            {"models": [A], "benchmarks": [{"name": "b", "backend": "cloud"}]},
            "(b) backend: a model is asked at its url",
        ),
        ({"models": [{**A, "wandb_project": "p"}]}, "[[models]] 1 (a) wandb_project: write it in [run]"),
        (
            {"models": [A], "defaults": {"telemetry": True}},
            '[defaults] telemetry: write gpu_metrics = "nvml"',
        ),
        (
            {"models": [A], "run": {"energy_vendor": "amd"}},
            '[run] energy_vendor: only NVIDIA\'s GPUs are read: write "nvidia", or declared_power',
        ),
        ({"models": [A], "run": {"engine": "x"}}, "[run] engine: a model is asked at its url"),
        ({"models": [A], "run": {"max_turns": "few"}}, "[run] max_turns: "),
        ({"models": [A], "judge": {"api_key": "sk"}}, "[judge] api_key: a key does not belong into a file"),
        ({"models": [A], "judge": {"max_tokens": "many"}}, "[judge] max_tokens: must be a whole number"),
        (
            {"models": [A], "defaults": {"output_dir": "x"}},
            "[defaults] output_dir: the key is 'out' here, and belongs into [run]",
        ),
        (
            {"models": [A], "run": {"num_gpus": 2}},
            "[run] num_gpus: the key is 'gpus' here, and belongs into [defaults], or a table",
        ),
        (
            {"models": [A], "defaults": {"max_workers": 2, "concurrency": 2}},
            "[defaults]: max_workers and concurrency mean the same: give it once, as concurrency",
        ),
        ({"models": [A], "run": {"cooldown": "-1s"}}, "[run] cooldown: '-1s' is not a duration"),
        ({"models": [A], "run": {"repeat": 0}}, "[run] repeat: "),
        ({"models": [A], "run": {"stop_on_failure": 1}}, "[run] stop_on_failure: "),
        ({"models": [A], "benchmarks": []}, "[[benchmarks]]: is empty: leave it out, or write one"),
    ],
)
def test_a_mistake_is_reported_with_table_and_key(tables: dict[str, Any], complaint: str) -> None:
    """In a sentence that says what to do; no secret is repeated."""
    with pytest.raises(UsageError) as refused:
        suite_of(source_of(**tables))
    assert complaint in str(refused.value)
    assert str(refused.value).startswith("s.toml: ")
    assert "sk-1" not in str(refused.value)


@pytest.mark.parametrize(
    ("table", "meant"),
    [
        ({"telemetry": False, "gpu_metrics": False, "energy_vendor": "", "wandb_project": ""}, {}),
        ({"telemetry": True}, {"gpu_metrics": ["nvml"]}),
        ({"gpu_metrics": True}, {"gpu_metrics": ["nvml"]}),
        ({"energy_vendor": "nvidia"}, {"gpu_metrics": ["nvml"]}),
        (
            {"gpu_metrics": ["http://h:9400/metrics"], "telemetry": True},
            {"gpu_metrics": ["http://h:9400/metrics"]},
        ),
        ({"max_turns": 7}, {"max_turns": 7}),
    ],
)
def test_run_takes_telemetry_and_turns(table: dict[str, Any], meant: dict[str, Any]) -> None:
    """As options of every run; the schema takes them too."""
    assert suite_of(source_of(models=[A], run=table)).run.options() == meant
    assert valid({"models": [A], "run": table})


def test_run_names_trackers(tmp_path: Path) -> None:
    """W&B and Sheets with the options of `loadgen export --to`; half of what Sheets needs is an error."""
    run = suite_of(
        source_of(
            models=[A],
            run={
                "wandb_project": "serving",
                "wandb_tags": "nightly, 8b",
                "sheets_spreadsheet_id": "id",
                "sheets_credentials_path": "key.json",
            },
        )
    ).run
    wandb, sheets = trackers_of(run, tmp_path)
    assert (wandb["to"], wandb["project"], wandb["entity"], wandb["tag"]) == (
        *("wandb", "serving", None),
        ["nightly", "8b"],
    )
    assert (sheets["to"], sheets["worksheet"], sheets["credentials"]) == (
        *("sheets", "Results"),
        str(tmp_path / "key.json"),
    )
    assert trackers_of(suite_of(source_of(models=[A])).run, tmp_path) == []
    half = suite_of(source_of(models=[A], run={"sheets_spreadsheet_id": "id"})).run
    with pytest.raises(UsageError, match="give both sheets_spreadsheet_id and sheets_credentials_path"):
        trackers_of(half, tmp_path)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    """Each on a separate line, up to ten, with their line numbers."""
    path = tmp_path / "s.toml"
    path.write_text('[[models]]\nname = "a"\nwrong = 1\n\n[[loads]]\nwrong = 1\n')
    with pytest.raises(UsageError) as refused:
        suite_of(read(path))
    assert str(refused.value).splitlines() == [
        f"{path}:3: [[models]] 1 (a) wrong: the key does not exist here",
        f"{path}:6: [[loads]] 1 wrong: the key does not exist here",
    ]
    with pytest.raises(UsageError, match="… and 3 more"):
        suite_of(source_of(models=[{"name": "a", **{f"zzz{number}": 1 for number in range(13)}}]))


def test_the_schema_is_valid() -> None:
    """It is a JSON schema."""
    Draft202012Validator.check_schema(suite_model.schema())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_suites(path: Path) -> None:
    """For the program, and for the schema."""
    source = read(path)
    assert suite_of(source).models
    Draft202012Validator(suite_model.schema()).validate(source.tables)


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {"models": [{"name": "a", "max_tokns": 8}]},
        {"models": [{"name": "a", "max_tokens": "many"}]},
        {"models": [{"name": "a", "api_key": "sk-1"}]},
        {"models": [A], "run": {"repeat": 0}},
        {"models": [A], "gate": {"url": "http://host"}},
        {"models": [A], "judge": {"engine": "x"}},
        {"models": [A], "meta": {"max_workers": 4}},
    ],
)
def test_the_schema_finds_mistakes_too(tables: dict[str, Any]) -> None:
    """An editor underlines what the program refuses."""
    with pytest.raises(ValidationError):
        Draft202012Validator(suite_model.schema()).validate(tables)


def test_the_schema_takes_the_names_of_other_tools() -> None:
    """Where the program takes them."""
    assert valid({"models": [{"name": "a", "num_gpus": 2}], "run": {"max_workers": 4, "output_dir": "x"}})
    assert valid({"models": [A], "judge": {"url": "http://host", "temperature": 0}})


def test_the_schema_takes_hyphens() -> None:
    """A key may be written as the option is."""
    assert valid({"models": [{"name": "a", "max-tokens": 8, "api-key-env": "KEY"}]})
