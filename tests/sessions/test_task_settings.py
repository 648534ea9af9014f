"""What can be said about benchmarks, and what is refused before anything is asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.benchmark_questions import placed_task, question_events, temperature_of
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.run.scoring_at_end import warn_of_no_judge
from loadgen.sessions.series.point_options import Secrets, point_of, settings_of
from loadgen.sessions.series.suite.layers import options
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.benchmark_options import system_prompt_of
from loadgen.sessions.settings.concerns import from_flat
from loadgen.sessions.settings.option import OptionValueError
from loadgen.sessions.settings.perf import PerfSettings, perf_settings, settings_from_stored, stored_options
from recorder.event import EventType
from workloads.dataset import Dataset
from workloads.errors import ColumnError, EvalError, TaskError

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = [
    {"Question": "1+1?", "Answer": "2", "level": "easy"},
    {"Question": "6*7?", "Answer": "42", "level": "hard"},
]
MAPPED = ["user_prompt=question", "ground_truth=answer"]


def settings(**options: Any) -> PerfSettings:
    """Settings with an endpoint that is never asked."""
    return perf_settings(url=["http://host.invalid"], model="m", **options)


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A file of two questions."""
    path = tmp_path / "sums.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, OWN)))
    return str(path)


TASK = {"task": ["gsm8k"]}
JUDGE = {"judge_url": "http://j", "judge_model": "j"}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"samples": 3}, "--samples: applies to benchmarks: give --task"),
        ({"data": Path("x"), "scorer": ["a"]}, "--data and --scorer: applies to benchmarks"),
        ({"judge_url": "http://j", "judge_model": "j"}, "--judge-url: applies to benchmarks"),
        ({"pass_threshold": 0.5, "judge_timeout": 1.0}, "--pass-threshold and --judge-timeout: applies to"),
        ({**TASK, "prompts": "x.jsonl"}, "--task and --prompts contradict each other"),
        ({**TASK, "trace": "x.csv"}, "--task and --trace contradict each other"),
        ({**TASK, "turns": "2"}, "--task and --turns contradict each other"),
        ({**TASK, "salt": True}, "--salt: changes the benchmark's questions"),
        ({**TASK, "ignore_eos": True, "max_tokens": 5}, "--ignore-eos: changes the benchmark's"),
        ({**TASK, "only_prompt": 7}, "--offset 7 --samples 1 asks one question"),
        ({**TASK, "columns": MAPPED}, "--map: applies to the columns of a file"),
        ({**TASK, "tag": ["level"]}, "--tag: applies to the rows of a file"),
        ({**TASK, "samples": 0}, "--samples 0: must be 1 or more"),
        ({**TASK, "sample_order": "file"}, "--sample-order file: says which --samples are asked; give both"),
        ({"sample_order": "file"}, "--sample-order: applies to benchmarks"),
        ({**TASK, "offset": -1}, "--offset -1: must be 0 or more"),
        ({**TASK, "repeats": 0}, "--repeats 0: must be from 1"),
        ({**TASK, "repeats": 2, "requests": 5}, "--repeats and --requests contradict each other"),
        ({**TASK, "repeats": 2, "passes": 2}, "--repeats and --passes contradict each other"),
        ({**TASK, "repeats": 2, "order": "random"}, "--order random draws them"),
        ({**TASK, "pass_threshold": float("nan")}, "--pass-threshold nan: must be a number"),
        ({**TASK, "judge_url": "http://j"}, "--judge-url: a judge is an endpoint and a model"),
        ({**TASK, "judge_model": "j"}, "--judge-model: a judge is an endpoint and a model"),
        ({**TASK, "judge_concurrency": 0}, "--judge-concurrency 0: must be from 1"),
        ({"judge_temperature": 0.0}, "--judge-temperature: applies to benchmarks"),
        ({**TASK, "judge_max_tokens": 9}, "--judge-max-tokens: needs a judge"),
        ({**TASK, **JUDGE, "judge_temperature": -1.0}, "--judge-temperature -1: must be from 0 to 10"),
        ({**TASK, **JUDGE, "judge_max_tokens": 0}, "--judge-max-tokens 0: must be from 1 to 10,000,000"),
        ({**TASK, "judge_timeout": 0.0}, "--judge-timeout 0: must be above 0"),
    ],
)
def test_contradictory_options(options: dict[str, Any], why: str) -> None:
    """Options of which one would be ignored, or that are out of bounds, are an error that names them."""
    with pytest.raises(UsageError) as caught:
        settings(**options)
    assert why in str(caught.value)


def test_a_file_is_a_task(own: str) -> None:
    """Its columns can have other names, its tags go with its questions, its first scorer is default."""
    prepared = prepare(settings(task=[own], columns=MAPPED, tag=["level"], max_tokens=9))
    first, second = prepared.dataset.samples
    assert (first.prompt, first.max_tokens) == ("1+1?", 9)
    assert second.tags == {"level": "hard", "task": "sums"}
    assert prepared.accuracy is not None
    assert prepared.accuracy["scorers"] == {own: "exact"}
    events = list(question_events(prepared.dataset, {0}, 5))
    assert [(event.type, event.at_ns) for event in events] == [(EventType.QUESTION, 5)]
    data = dict(events[0].data or {})
    assert data["texts"]["reference"]["ground_truth"] == "42"
    assert (data["prompt_id"], data["task"], data["id"], data["tags"]["level"]) == (1, own, "1", "hard")


def test_counts(own: str) -> None:
    """Each question is asked once, or --repeats times; or as often as the options of any session say."""
    options: dict[str, Any] = {"task": [own], "columns": MAPPED}
    assert prepare(settings(**options)).plan.requests == 2
    assert prepare(settings(**options, repeats=3)).plan.requests == 6
    assert prepare(settings(**options, requests=5)).plan.requests == 5
    assert prepare(settings(**options, samples=1, offset=1)).dataset.samples[0].prompt == "6*7?"
    assert prepare(settings(**options, rate="ramp:1..5,10s", repeats=2)).plan.duration_s is None


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"task": ["gsm9k"], "columns": []}, TaskError, "Unknown task 'gsm9k'. Did you mean 'gsm8k'"),
        ({"scorer": ["exakt"]}, TaskError, "did you mean 'exact'"),
        ({"scorer": ["gsm8k=official"]}, TaskError, "'gsm8k'"),
        ({"eval_function": ["no_such_module:f"]}, EvalError, "the module no_such_module cannot be imported"),
        ({"columns": ["ground_truth=anser", MAPPED[0]]}, ColumnError, "use --map ground_truth=Answer"),
        ({"columns": ["ground_truth"]}, UsageError, "--map ground_truth: write the field and the column"),
        ({"columns": [*MAPPED, "ground_truth=x"]}, UsageError, "ground_truth was given before"),
        ({"judge_url": "ftp://j", "judge_model": "j"}, UsageError, "--judge-url ftp://j: the scheme"),
        ({"judge_url": "http://u:p@j", "judge_model": "j"}, UsageError, "send secrets with --judge-api-key"),
        ({"samples": 5, "offset": 2}, Exception, "no question is left from number 2 on"),
    ],
)
def test_unusable_options_are_refused_before_anything_is_asked(
    options: dict[str, Any], error: type[Exception], why: str, own: str
) -> None:
    """An unknown task or scorer, an unknown function, a missing column, an unusable judge."""
    with pytest.raises(error) as caught:
        prepare(settings(**{"task": [own], "columns": MAPPED, **options}))
    assert why in str(caught.value)
    assert "u:p" not in str(caught.value)


def test_code_is_only_run_where_that_is_allowed(tmp_path: Path) -> None:
    """A benchmark that runs what the model wrote is refused before anything is asked."""
    row = {"task_id": "T/0", "prompt": "def f():\n", "canonical_solution": "    return 1\n"}
    row |= {"test": "def check(f):\n    assert f() == 1\n", "entry_point": "f"}
    (tmp_path / "HumanEval.jsonl").write_bytes(orjson.dumps(row))
    with pytest.raises(TaskError, match="allow that with --allow-code-execution"):
        prepare(settings(task=["humaneval"], data=tmp_path))
    assert prepare(settings(task=["humaneval"], data=tmp_path, allow_code_execution=True)).accuracy


def test_a_missing_judge_is_not_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    """The session continues, with a note that its answers stay without a score."""
    warn_of_no_judge(settings(task=["simpleqa", "gsm8k"]).tasks, Terminal())
    assert capsys.readouterr().err.startswith("note: simpleqa: no judge is given")
    warn_of_no_judge(settings(task=["simpleqa"], judge_url="http://j", judge_model="j").tasks, Terminal())
    warn_of_no_judge(settings(task=["gsm8k"]).tasks, Terminal())
    warn_of_no_judge(settings().tasks, Terminal())
    assert capsys.readouterr().err == ""


def facts(*temperatures: float) -> Dataset:
    """Benchmarks that are sampled at these temperatures."""
    tasks: tuple[Mapping[str, Any], ...] = tuple({"sampled_at": temperature} for temperature in temperatures)
    return Dataset("t", (), "", synthetic=False, tasks=tasks)


def test_temperatures() -> None:
    """The user's goes before the benchmarks'; where those differ, each question has its own."""
    assert temperature_of(facts()) is None
    assert temperature_of(facts(0.6, 0.6)) == 0.6
    assert temperature_of(facts(0.6, 0.0)) is None


def test_the_judges_key_is_never_stored(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not among the options of a log, nor of a point of a series, which finds its file from everywhere."""
    folder = Path(own).parent
    monkeypatch.chdir(folder)
    judge = {"judge_url": "http://j", "judge_model": "j", "judge_api_key": "sk-judge"}
    original = settings(task=["sums.jsonl", "gsm8k"], columns=MAPPED, data=Path("d"), **judge)
    assert "sk-judge" not in repr(original)
    point = point_of("one", {}, original)
    assert b"sk-judge" not in orjson.dumps([stored_options(original), dict(point.options)])
    assert point.options["task"] == [own, "gsm8k"]
    again = settings_of(point, Secrets(judge_api_key="sk-other"))
    assert (again.tasks.judge.judge_api_key, again.tasks.data, again.tasks.task) == (
        "sk-other",
        folder / "d",
        [own, "gsm8k"],
    )


def test_an_accuracy_session_is_resumed_like_any_other() -> None:
    """Its log has options of `loadgen perf`."""
    original = from_flat(
        AccuracySettings, {"url": ["http://host.invalid"], "model": "m", "task": ["gsm8k"], "repeats": 4}
    )
    again = settings_from_stored(stored_options(original), url=original.endpoint.url)
    assert (again.tasks.task, again.tasks.repeats) == (["gsm8k"], 4)


def test_names_in_a_suite() -> None:
    """Files are found from the suite's folder; a benchmark's name is not a file; a flag is used as given."""
    assert placed_task("data/sums.jsonl", Path("/suite")) == "/suite/data/sums.jsonl"
    assert placed_task("mmlu_pro:shots=0", Path("/suite")) == "mmlu_pro:shots=0"
    assert (options()["eval_function"].flag, options()["columns"].flag) == ("--eval", "--map")
    assert options()["concurrency"].flag == "--concurrency"


def asked(**options: Any) -> list[str]:
    """The prompts of a session."""
    return [sample.prompt for sample in prepare(settings(**options)).dataset.samples]


def test_samples_are_drawn_by_the_seed(tmp_path: Path) -> None:
    """Unless the first ones are wanted; with an offset they are, so that one question can be asked alone."""
    rows = [{"user_prompt": f"{number}?", "ground_truth": "x"} for number in range(50)]
    (tmp_path / "many.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    options: dict[str, Any] = {"task": [str(tmp_path / "many.jsonl")], "samples": 5}
    first = [f"{number}?" for number in range(5)]
    assert asked(**options, sample_order="file") == first
    assert asked(**options) == asked(**options) != first
    assert asked(**options) != asked(**options, seed=1)
    assert asked(**{**options, "samples": 1}, offset=7) == ["7?"]
    assert asked(**options, offset=40, sample_order="shuffle") != [f"{number}?" for number in range(40, 45)]
    assert prepare(settings(**options, seed=3)).dataset.tasks[0]["drawn"]["seed"] == 3


def test_a_run_from_before_samples_were_drawn_is_resumed_with_its_questions(own: str) -> None:
    """What it kept does not say how they were chosen: they were the first ones."""
    options = stored_options(settings(task=[own], columns=MAPPED, samples=1))
    assert settings_from_stored(options, url=["http://host.invalid"]).tasks.draws_samples
    del options["sample_order"]
    assert not settings_from_stored(options, url=["http://host.invalid"]).tasks.draws_samples
    del options["samples"]
    assert settings_from_stored(options, url=["http://host.invalid"]).tasks.sample_order is None


def test_a_request_seed_is_sent_where_the_protocol_has_one() -> None:
    """It is refused where the protocol has none, and stored in the log."""
    prepared = prepare(settings(request_seed=42, requests=1))
    assert prepared.plan.generation.seed == 42
    assert prepared.settings()["request_seed"] == 42
    described = settings(request_seed=1, protocol="sse", body='{"q": "{prompt}", "seed": "{seed}"}')
    assert described.generation.request_seed == 1
    for protocol, why in (
        ("responses", "--protocol responses has no such member; chat and completions have it"),
        ("messages", "--protocol messages has no such member"),
        ("json", 'put a member such as "seed": "{seed}" into it'),
    ):
        with pytest.raises(UsageError, match=re.escape(why)):
            settings(request_seed=1, protocol=protocol)
    with pytest.raises(UsageError, match="must be a 64-bit integer"):
        settings(request_seed=2**63)


def test_a_system_prompt_precedes_each_question(own: str, tmp_path: Path) -> None:
    """A text or a file; the log keeps the text, so that a run is resumed without the file."""
    (tmp_path / "brief.txt").write_text("Be brief.\n", encoding="utf-8")
    assert system_prompt_of(f"@{tmp_path / 'brief.txt'}") == "Be brief."
    for wrong in ("@nowhere.txt", " ", f"@{tmp_path}"):
        with pytest.raises(OptionValueError):
            system_prompt_of(wrong)
    options: dict[str, Any] = {"task": [own], "columns": MAPPED}
    prepared = prepare(settings(**options, system_prompt="Be brief."))
    assert [sample.system for sample in prepared.dataset.samples] == ["Be brief."] * 2
    assert prepared.dataset.tasks[0]["system_prompt"] == "Be brief."
    assert prepared.dataset.sha256 != prepare(settings(**options)).dataset.sha256
    assert stored_options(prepared.perf)["system_prompt"] == "Be brief."
    with pytest.raises(UsageError, match="--system-prompt"):
        settings(system_prompt="x")
