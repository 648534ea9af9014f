"""The command that repeats a run, from its settings."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from loadgen.sessions.run.repeat import command_of
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.file_values import read_value
from loadgen.sessions.settings.perf import PerfSettings, perf_settings, stored_options
from rulesets import of_expressions
from rulesets.loading import load

URL = "http://127.0.0.1:8000/v1"


def settings_of(**options: Any) -> dict[str, Any]:
    """The part of a log's settings that the command is made of."""
    return {
        "command": "perf",
        "urls": [URL],
        "options": stored_options(perf_settings(model="m", **options)),
        "headers": ["User-Agent"],
    }


def read(command: str) -> dict[str, Any]:
    """The options of a command line by name, as the command line reads them."""
    fields = fields_of(PerfSettings).items()
    by_flag = {field.flag: (name, field) for name, field in fields}
    switches = {
        field.flag.replace("--", "--no-", 1): (name, field) for name, field in fields if field.kind is bool
    }
    by_flag |= switches
    words, options = shlex.split(command)[2:], {}
    while words:
        flag = words.pop(0)
        name, field = by_flag[flag]
        if field.kind is bool:
            options[name] = not flag.startswith("--no-")
        elif field.is_list:
            options.setdefault(name, []).extend(read_value(field, words.pop(0)))
        else:
            options[name] = read_value(field, words.pop(0))
    return options


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"concurrency": 16, "requests": 200, "warmup": "5s", "max_tokens": 64, "temperature": 0.7},
        {"rate": "ramp:1..50,60s", "duration": 62.5, "max_concurrency": 8, "max_error_rate": 0.05},
        {
            "task": ["gsm8k", "ifeval"],
            "samples": 10,
            "allow_code_execution": True,
            "system_prompt": "it's 'so'",
        },
        {"stream": False, "probe": False, "extra_body": '{"top_k": 3}', "input_tokens": "normal:512,64"},
        {"percentiles": "50,99.9", "server_metrics": ["http://127.0.0.1:8000/metrics"], "seed": 3},
    ],
)
def test_the_command_has_the_options_of_the_run(options: dict[str, Any]) -> None:
    """Those that are not the defaults, and the command line reads them as they were."""
    settings = settings_of(**options)
    typed = read(command_of(settings))
    assert typed.pop("url") == [URL]
    assert stored_options(perf_settings(**typed)) == settings["options"]
    assert len(typed) == len(options) + 1


def test_a_repeated_run_has_other_texts() -> None:
    """Equal ones would be in the prefix cache of the server."""
    assert "seed" not in command_of(settings_of(text_seed=7))


def test_rules_are_asked_for_again() -> None:
    """Targets, a ruleset by name and version, or both; what was skipped too."""
    required = of_expressions(["ttft:p(99)<500ms", "error<1%"])
    settings = settings_of() | {"ruleset": required.to_dict(), "skip": ["audits"]}
    command = command_of(settings)
    assert command.endswith("--require 'ttft:p(99)<500ms' --require 'error:rate<1%' --skip audits")
    ruleset = load("inferencemax-like", model="m", scenario="1k1k").to_dict()
    further = {
        "name": f"{ruleset['name']} + command line",
        "targets": [*ruleset["targets"], *required.to_dict()["targets"]],
    }
    command = command_of(settings_of() | {"ruleset": {**ruleset, **further}})
    assert f"--ruleset inferencemax-like@{ruleset['version']} --scenario 1k1k" in command
    assert command.count("--require") == len(required.targets)


def test_no_secret_is_in_the_command() -> None:
    """A header has a placeholder for its value; a key comes from the environment."""
    command = command_of(settings_of() | {"headers": ["Authorization", "User-Agent", "X-Team"]})
    assert "--header 'X-Team: VALUE'" in command
    assert "uthorization" not in command


@pytest.mark.parametrize("settings", [{}, {"command": "selftest"}, {"command": "perf", "options": None}])
def test_other_logs_have_no_command(settings: dict[str, Any]) -> None:
    """Those of other programs and commands."""
    assert command_of(settings) == ""
