"""The matrix of a suite: which runs there are, in which order, what filters leave, how it is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.run import run
from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.suite.matrix import Choice, matrix
from loadgen.sessions.series.suite.mistakes import suite_of
from loadgen.sessions.series.suite.source_lines import SuiteSource, read
from loadgen.sessions.settings.run import RunSettings
from tests import golden

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
TWO = [{"name": "a"}, {"name": "b"}]
DEFAULTS = {"url": "http://host"}


def names(choice: Choice = Choice(), **tables: Any) -> list[str]:  # noqa: B008 (a frozen value)
    """The runs of a file that says these tables."""
    source = SuiteSource(Path("s.toml"), "", {"defaults": DEFAULTS, "models": TWO, **tables})
    return [entry.name for entry in matrix(source, suite_of(source), (), choice)]


def test_models_come_first_then_benchmarks_then_loads_then_repetitions() -> None:
    """Each kind in the order of the file."""
    tables: dict[str, Any] = {
        "benchmarks": [{"name": "y", "salt": True}, {"name": "x", "salt": True}],
        "loads": [{"rate": 5}, {"concurrency": 1}],
    }
    assert names(**tables) == [
        *("a / y / rate-5", "a / y / concurrency-1", "a / x / rate-5", "a / x / concurrency-1"),
        *("b / y / rate-5", "b / y / concurrency-1", "b / x / rate-5", "b / x / concurrency-1"),
    ]
    assert names(Choice(repeat=2))[:2] == ["a / default / default / 1", "a / default / default / 2"]


def test_filters_leave_what_matches_one_of_their_globs() -> None:
    """By the names of the matrix."""
    tables: dict[str, Any] = {
        "benchmarks": [{"name": "chat", "salt": True}, {"name": "code", "salt": True}],
        "loads": [{"offline": True}, {"rate": 5}],
    }
    assert names(Choice(["b"], ["ch*", "x*", "*t"][:1], ["rate-*"]), **tables) == ["b / chat / rate-5"]
    assert names(Choice(loads=["off*", "rate*"], models=["[a]"]), **tables) == [
        *("a / chat / offline", "a / chat / rate-5", "a / code / offline", "a / code / rate-5"),
    ]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [("m", ["m1", "m10", "xm"]), ("m1", ["m1"]), ("m*", ["m1", "m10"]), ("10", ["m10"]), ("[x]m", ["xm"])],
)
def test_a_filter_is_a_name_or_a_part_of_one_or_a_glob(pattern: str, matching: list[str]) -> None:
    """The name itself goes before what it is a part of."""
    models = [{"name": name} for name in ("m1", "m10", "xm")]
    matched = names(Choice([pattern]), models=models)
    assert matched == [f"{name} / default / default" for name in matching]


@pytest.mark.parametrize(
    ("choice", "tables", "complaint"),
    [
        (Choice(["c*"]), {}, "--model-filter 'c.' matches none of the models of s.toml: a, b"),
        (
            Choice(benchmarks=["c"]),
            {},
            "--benchmark-filter 'c' matches none of the benchmarks of s.toml: default",
        ),
        (
            Choice(),
            {"models": [*TWO, {"name": "a"}]},
            r"\[\[models\]\] 3 \(a\): .* 1 \(a\) has the same name, 'a'",
        ),
        (
            Choice(),
            {"loads": [{"rate": 5}, {"rate": 5}]},
            r"\[\[loads\]\] 2: .* 1 has the same name, 'rate-5'",
        ),
        (Choice(repeat=6000), {}, "12000 runs are more than the 10000"),
        (Choice(), {"defaults": {}}, "s.toml: a / default / default: there is no url"),
    ],
)
def test_a_matrix_of_nothing_or_twice_the_same_is_refused(
    choice: Choice, tables: dict[str, Any], complaint: str
) -> None:
    """With the names that there are."""
    with pytest.raises(UsageError, match=complaint):
        names(choice, **tables)


def test_a_model_may_have_another_name_at_its_endpoint() -> None:
    """The matrix shows the one, the endpoint hears the other."""
    source = read(GOLDEN / "suite.toml")
    entries = matrix(source, suite_of(source), (), Choice(models=["large"]))
    assert {(entry.axes["model"], entry.settings.endpoint.model) for entry in entries} == {
        ("large", "org/large-70b")
    }
    assert entries[0].api_key_env == "LARGE_KEY"
    assert entries[0].settings.endpoint.api_key is None


def test_the_external_backend_is_the_endpoint_of_agents_that_are_programs() -> None:
    """It is above the defaults; its key goes to no endpoint of a model, and other runs do not take it."""
    tables: dict[str, Any] = {
        "defaults": DEFAULTS,
        "backend": {"external": {"base_url": "http://agents/v1", "api_key_env": "AGENTS_KEY"}},
        "models": [{"name": "a"}, {"name": "b", "url": "http://own"}],
        "benchmarks": [
            {"name": "plain", "salt": True},
            {"name": "agent", "agent_command": "cat", "prompts": "p.jsonl"},
        ],
    }
    source = SuiteSource(Path("s.toml"), "", tables)
    entries = matrix(source, suite_of(source), (), Choice())
    assert [(entry.merged.values["url"], entry.api_key_env) for entry in entries] == [
        (["http://host"], ""),
        (["http://agents/v1"], "AGENTS_KEY"),
        (["http://own"], ""),
        (["http://own"], ""),
    ]
    assert entries[1].merged.origins["url"] == ("[defaults]", "[backend.external]")


@pytest.mark.parametrize(("flags", "name"), [((), "dry_run.txt"), (("--json",), "dry_run.json")])
def test_a_dry_run_shows_the_matrix(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    flags: tuple[str, ...],
    name: str,
) -> None:
    """As a table and as JSON; `make golden` writes the files again. Nothing is written or sent."""
    (tmp_path / "suite.toml").write_bytes((GOLDEN / "suite.toml").read_bytes())
    run = loadgen("run", "suite.toml", "--dry-run", "--set", "seed=3", *flags, LOADGEN_SERVER_METRICS="")
    assert (run.returncode, run.stderr) == (
        0,
        "note: LARGE_KEY is not set; the suite takes a secret from it\n",
    )
    golden.check(GOLDEN / name, run.stdout)
    assert [path.name for path in tmp_path.iterdir()] == ["suite.toml"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('prompts = "none.jsonl"', "none.jsonl"),
        ('require = ["speed>9"]', "speed"),
        ("requests = -1", "requests is set by [[models]] 2 (b)"),
        ('api_key_env = "NO_SUCH_KEY"', "variable NO_SUCH_KEY, which the suite names, is not set"),
    ],
)
def test_a_run_that_cannot_be_is_refused_before_anything_is_sent(
    tmp_path: Path, line: str, complaint: str
) -> None:
    """Prompts, rules, numbers and keys of every run are looked at first: the error names the run."""
    suite = tmp_path / "s.toml"
    models = "\n".join(f'[[models]]\nname = "{name}"\nurl = "http://127.0.0.1:9"' for name in "ab")
    suite.write_text(f"{models}\n{line}\n")
    with pytest.raises(UsageError) as refused:
        run(RunSettings(suite=suite, quiet=True, out=tmp_path / "out"))
    assert str(refused.value).startswith(f"{suite}: b / default / default: ")
    assert complaint in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_an_environment_that_overrides_the_file_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may have been set for something else."""
    suite = tmp_path / "s.toml"
    suite.write_text('[[models]]\nname = "a"\nurl = "http://file:1"\n')
    monkeypatch.setenv("LOADGEN_URL", "http://other:2")
    run(RunSettings(suite=suite, dry_run=True, json=True))
    printed = capsys.readouterr()
    assert printed.err == "note: LOADGEN_URL overrides the url of the file\n"
    (only,) = orjson.loads(printed.out)["runs"]
    assert only["said_by"]["url"] == ["[[models]] 1 (a)", "LOADGEN_URL"]


def asked(*benchmarks: dict[str, Any], **defaults: Any) -> list[tuple[list[str], str | None]]:
    """Which tasks and which prompts the benchmarks of a file ask."""
    tables = {"defaults": {**DEFAULTS, **defaults}, "models": [{"name": "m"}], "benchmarks": list(benchmarks)}
    source = SuiteSource(Path("s.toml"), "", tables)
    entries = matrix(source, suite_of(source), (), Choice())
    return [(entry.settings.tasks.task, entry.settings.prompts.prompts) for entry in entries]


def test_a_benchmark_that_is_called_like_a_task_asks_that_task() -> None:
    """With options too; what the table says of the task itself goes first, and other names are labels."""
    assert asked({"name": "supergpqa"}) == [(["supergpqa"], None)]
    assert asked({"name": "mmlu_pro:shots=0"}) == [(["mmlu_pro:shots=0"], None)]
    assert asked({"name": "gsm8k", "task": "gsm8k"}) == [(["gsm8k"], None)]
    assert asked({"name": "mmlu_pro", "task": ["mmlu_pro:shots=0", "gpqa"]}) == [
        (["mmlu_pro:shots=0", "gpqa"], None)
    ]
    assert asked({"name": "chat", "max_tokens": 9}, {"name": "sums", "task": "gsm8k"}) == [
        ([], None),
        (["gsm8k"], None),
    ]
    assert asked({"name": "gpqa"}, task="gsm8k") == [(["gpqa"], None)]


@pytest.mark.parametrize(
    ("benchmark", "complaint"),
    [
        ({"prompts": "p.jsonl"}, "'gsm8k' is the name of a benchmark, and prompts has other prompts"),
        ({"input_tokens": "512"}, "and input_tokens has other prompts: rename the table, or leave"),
        ({"task": "gpqa"}, "'gsm8k' is the name of a benchmark, and task is gpqa: rename the table"),
    ],
)
def test_the_name_of_a_task_above_other_questions_is_refused(
    benchmark: dict[str, Any], complaint: str
) -> None:
    """For the results would bear its name."""
    with pytest.raises(UsageError, match=complaint):
        asked({"name": "gsm8k", **benchmark})


@pytest.mark.parametrize(
    ("benchmark", "complaint"),
    [
        ({"name": "supergpqaa"}, "unknown task 'supergpqaa'; write name = 'supergpqa'"),
        ({"name": "gsm8kk", "max_tokens": 64}, "write name = 'gsm8k'"),
        ({"name": "GPQA-Diamonds:shots=0"}, "unknown task 'GPQA-Diamonds'; write name = 'gpqa'"),
        ({"name": "terminalbench-v2.1"}, "write name = 'terminal_bench'"),
        ({"name": "lifelong-agent"}, "type: loadgen import lifelong-agent RESULTS"),
        ({"name": "lifelong_agents", "max_tokens": 64}, "type: loadgen import lifelong-agent RESULTS"),
        ({"name": "workarena"}, "type: loadgen import workarena RESULTS"),
        ({"name": "no-such-thing"}, 'add prompts = "FILE", or for synthetic prompts add input_tokens = 512'),
    ],
)
def test_a_benchmark_that_is_misspelt_is_refused(benchmark: dict[str, Any], complaint: str) -> None:
    """The table is named, with the line to write; synthetic prompts have to be asked for."""
    with pytest.raises(UsageError, match=rf"\[\[benchmarks\]\] 1 .*{re.escape(complaint)}"):
        asked(benchmark)
    assert asked({**benchmark, "name": "own", "input_tokens": "512"}) == [([], None)]


def test_prompts_for_every_run_contradict_a_task() -> None:
    """The message says which table asks what."""
    with pytest.raises(UsageError, match=r"--task and --prompts contradict .*task is set by .*gsm8k"):
        asked({"name": "gsm8k"}, prompts="p.jsonl")
