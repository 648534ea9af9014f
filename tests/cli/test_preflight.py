"""What is said before a run that cannot be valid under its rules; of one that can be nothing is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.cli.run import run
from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.preflight import warn_of
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.run import RunSettings
from rulesets.errors import RulesetError

if TYPE_CHECKING:
    from pathlib import Path

RULES = """\
schema: rulesets/1
ruleset: {name: mine, version: '1'}
models: {"*": {scenarios: {one: {%s, targets: ['ttft:p(50)<10s']}}}}
"""


def plan(tmp_path: Path, rules: str, **options: Any) -> Any:
    """A run that is ready to start, under rules."""
    path = tmp_path / "rules.yaml"
    path.write_text(RULES % rules)
    defaults = {"url": ["http://127.0.0.1:9"], "model": "m", "ruleset": str(path)}
    return prepare(perf_settings(**{**defaults, **options}))


@pytest.mark.parametrize(
    ("rules", "broken", "options"),
    [
        ("validity: {min_duration_s: 60}", {"duration": 30.0}, {"duration": 60.0}),
        (
            "validity: {min_duration_s: 60}",
            {"requests": 100, "rate": "10"},
            {"requests": 1000, "rate": "10"},
        ),
        ("validity: {min_duration_s: 60}", None, {"requests": 5}),
        ("validity: {min_samples: 100}", {"requests": 99}, {"requests": 100}),
        (
            "validity: {min_samples: 100}",
            {"duration": 2.0, "rate": "10"},
            {"duration": 10.0, "rate": "10"},
        ),
        ("validity: {min_samples: 100}", None, {"duration": 1.0}),
        ("validity: {streaming: required}", {"requests": 1, "stream": False}, {"requests": 1}),
        (
            "validity: {min_samples_per_concurrency: 10}",
            {"requests": 30, "concurrency": 4},
            {"requests": 40, "concurrency": 4},
        ),
        (
            "validity: {warmup_per_concurrency: 2}",
            {"requests": 30, "concurrency": 4, "warmup": "7"},
            {"requests": 30, "concurrency": 4, "warmup": "8"},
        ),
        ("load: {pattern: poisson}", {"requests": 9}, {"requests": 9, "rate": "5"}),
        ("load: {pattern: poisson, rate: 5}", {"requests": 9, "rate": "6"}, {"requests": 9, "rate": "5"}),
    ],
)
def test_a_run_that_cannot_be_valid_has_a_warning(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rules: str,
    broken: dict[str, Any] | None,
    options: dict[str, Any],
) -> None:
    """One line each, with what to do; none for a run that may pass."""
    warn_of(plan(tmp_path, rules, **options), Terminal())
    assert capsys.readouterr().err == ""
    if broken is not None:
        warn_of(plan(tmp_path, rules, **broken), Terminal())
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("warning: the run cannot be valid: ")


def test_seeds_and_lengths_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other seeds than the rules prescribe, or another limit of the output, are known before the run."""
    path = tmp_path / "seeds.yaml"
    path.write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1'}\nseeds: {sample_index: 7}\n"
        "models: {'*': {generation: {max_new_tokens: 128, locked: true}, "
        "scenarios: {one: {targets: ['ttft:p(50)<10s']}}}}\n"
    )
    options: dict[str, Any] = {"url": ["http://127.0.0.1:9"], "model": "m", "requests": 1}
    warn_of(prepare(perf_settings(**options, ruleset=str(path), seed=7, max_tokens=128)), Terminal())
    assert capsys.readouterr().err == ""
    warn_of(prepare(perf_settings(**options, ruleset=str(path), seed=8, max_tokens=64)), Terminal())
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_what_is_left_out_is_not_foreseen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its id or its group; without rules there is nothing to foresee, and nothing to leave out."""
    rules = "validity: {min_samples: 100}"
    for skip in ("validity.min_samples", "validity"):
        warn_of(plan(tmp_path, rules, requests=9, skip=[skip]), Terminal())
    warn_of(prepare(perf_settings(url=["http://127.0.0.1:9"], model="m", requests=9)), Terminal())
    assert capsys.readouterr().err == ""
    with pytest.raises(RulesetError, match="unknown rule 'min_samples'"):
        plan(tmp_path, rules, requests=9, skip=["min_samples"])
    with pytest.raises(UsageError, match="there are no rules"):
        prepare(perf_settings(url=["http://127.0.0.1:9"], model="m", requests=9, skip=["a"]))


@pytest.mark.parametrize(
    ("require", "rules", "how"),
    [
        (
            ["tps:delta>-3%"],
            "validity: {min_samples: 1}",
            "output_tps:value:delta>-3%; evaluate it when it has ended: {} --baseline REF",
        ),
        (["tps:delta>-3%!warn"], "validity: {min_samples: 1}", ""),
        ([], "accuracy: [{metric: A, min: {abs: 1}}, {metric: B, min: {abs: 1}}]", "accuracy.A, accuracy.B;"),
        ([], "accuracy: [{metric: A, min: {abs: 1}, on_missing: skip}]", ""),
        ([], "audit: [output_caching]", "{} --audit FOLDER"),
        ([], "audit: [salt, {osl_range: [1, 2]}]", ""),
    ],
)
def test_what_only_a_gate_has_gives_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], require: list[str], rules: str, how: str
) -> None:
    """A change without a baseline, or a score that was not measured, cannot be met by a run alone."""
    warn_of(plan(tmp_path, rules, requests=9, require=require, salt=True), Terminal(), "one")
    warnings = capsys.readouterr().err
    assert warnings.count("warning: one: the run cannot pass by itself: ") == bool(how)
    assert how.format("loadgen gate RUN") in warnings


def test_a_baseline_and_power_of_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the rules name a baseline, the gate finds it; power has to be given to the gate."""
    path = tmp_path / "shared.yaml"
    path.write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1'}\n"
        "baseline: {ref: main, metrics: {tps: higher}}\n"
        "power: {required: true, source: wall}\ntargets: ['ttft:p(50)<10s']\n"
    )
    warn_of(
        prepare(perf_settings(url=["http://127.0.0.1:9"], model="m", requests=9, ruleset=str(path))),
        Terminal(),
    )
    power, baseline = sorted(capsys.readouterr().err.splitlines(), key=len, reverse=True)
    assert power.endswith("power; evaluate it when it has ended: loadgen gate RUN --power SOURCE:WATTS")
    assert baseline.endswith("baseline.tps; evaluate it when it has ended: loadgen gate RUN")


def test_settings_of_the_body_are_one_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The option can be given only once, so the remedy has all of it, once."""
    path = tmp_path / "shared.yaml"
    path.write_text(
        "schema: rulesets/1\nruleset: {name: mine, version: '1'}\nseeds: {model: 7}\n"
        "models: {'*': {generation: {top_p: 1.0, top_k: 5, locked: true}, "
        "scenarios: {one: {targets: ['ttft:p(50)<10s']}}}}\n"
    )
    options: dict[str, Any] = {
        "url": ["http://127.0.0.1:9"],
        "model": "m",
        "requests": 9,
        "ruleset": str(path),
    }
    warn_of(prepare(perf_settings(**options)), Terminal())
    warnings = capsys.readouterr().err
    assert len(warnings.splitlines()) == 3
    body = '{"top_p": 1.0, "top_k": 5, "seed": 7}'
    assert warnings.count("--extra-body") == warnings.count(f"ask: --extra-body '{body}'") == 1
    warn_of(prepare(perf_settings(**options, extra_body=body)), Terminal())
    assert capsys.readouterr().err == ""


def test_a_dry_run_foresees_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each run of a suite with its name, and nothing is sent."""
    suite = tmp_path / "suite.toml"
    suite.write_text(
        "[defaults]\nurl = 'http://127.0.0.1:9'\nrequests = 9\n[gate]\nrequire = ['tps:delta>-3%']\n"
        "[[models]]\nname = 'a'\n[[models]]\nname = 'b'\n"
    )
    run(RunSettings(suite=suite, dry_run=True))
    warnings = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in warnings] == ["a / default / default", "b / default / default"]


def test_the_gate_of_a_suite_is_read_where_it_was_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In [judge], with one note, for a release."""
    suite = tmp_path / "suite.toml"
    head = "[defaults]\nurl = 'http://127.0.0.1:9'\nrequests = 9\n[[models]]\nname = 'a'\n"
    for table, notes in (("gate", 0), ("judge", 1)):
        suite.write_text(f"{head}[{table}]\nrequire = ['error<1%']\n")
        run(RunSettings(suite=suite, dry_run=True))
        out, err = capsys.readouterr()
        assert "error<1%" in out
        assert err.count("put require into [gate]") == notes


def test_a_score_that_no_task_has_gives_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest that the run will have, attempts among them; none for one that may be missing."""
    (tmp_path / "faq.jsonl").write_text('{"user_prompt": "1 + 1?", "ground_truth": "2"}\n')
    asks = {"task": [str(tmp_path / "faq.jsonl")], "repeats": 3}
    good = ["accuracy.faq:value>=0.5", "accuracy.faq.exact>=0.5", "accuracy.faq.pass_at_3>=0.5"]
    warn_of(plan(tmp_path, "validity: {min_samples: 1}", require=good, **asks), Terminal())
    mistyped = ["accuracy.fag:value>=0.5", "accuracy.nothing>=0.5!warn"]
    assert capsys.readouterr().err == ""
    warn_of(plan(tmp_path, "validity: {min_samples: 1}", require=mistyped, **asks), Terminal())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: the run will have no score 'fag'")
    assert line.endswith("did you mean 'faq'?")
    warn_of(
        plan(tmp_path, "validity: {min_samples: 1}", require=mistyped, skip=["accuracy"], **asks), Terminal()
    )
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("rules", "options", "longer"),
    [
        ("validity: {min_samples: 1}", {"duration": 600.0}, "--timeout 20m"),
        ("validity: {min_duration_s: 600}", {"duration": 601.0}, "--timeout 30m"),
        ("validity: {min_duration_s: 600}", {}, "--timeout 20m"),
        (
            "validity: {min_samples: 1}",
            {"duration": 60.0, "first_byte_timeout": 30.0},
            "--first-byte-timeout 2m",
        ),
    ],
)
def test_a_limit_inside_an_offline_run_gives_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rules: str, options: dict[str, Any], longer: str
) -> None:
    """All of its requests wait from the start, so that the limit of each is that of the run."""
    offline = {"offline": True, "requests": 9, **options}
    warn_of(plan(tmp_path, rules, **offline), Terminal())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: {longer.split(maxsplit=1)[0]} ")
    assert " is too short" in line
    assert line.endswith(longer)


@pytest.mark.parametrize(
    "options",
    [
        {"offline": True, "requests": 9, "timeout": 1200.0},
        {"offline": True, "requests": 9, "max_concurrency": 4},
        {"concurrency": 4, "requests": 9},
    ],
)
def test_a_limit_that_is_long_enough_or_of_one_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    """Nothing is said."""
    warn_of(plan(tmp_path, "validity: {min_samples: 1}", duration=600.0, **options), Terminal())
    assert capsys.readouterr().err == ""
