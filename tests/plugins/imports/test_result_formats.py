"""Each format of results is read as its harness writes it, and what is wrong is named with file and key."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.imports.imported_log import format_called
from tests.plugins.imports import harness_files as written
from workloads.errors import WorkloadError
from workloads.registry import entries

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.imports.results.harness_results import HarnessResults

FORMATS = [name for name, entry in entries("imports").items() if "has" not in entry.facts]


def read(name: str, path: Path) -> HarnessResults:
    """The results in a file or folder."""
    return format_called(name).read(path)


def test_every_format_has_a_sample_here() -> None:
    """No importer is without a test."""
    assert set(written.WRITERS) == set(FORMATS)


def test_terminal_bench(tmp_path: Path) -> None:
    """Verdicts, failures, times and tokens; without the run's file, those of its trials."""
    results = read("terminalbench-native", written.terminal_bench(tmp_path))
    assert [(attempt.task_id, attempt.value, attempt.ending) for attempt in results.attempts] == [
        ("hello", 1, "completed"),
        ("hello", 0, "max_time"),
        ("fix", 0, "failed"),
        ("fix", 0, "completed"),
    ]
    first, *_, unread = results.attempts
    assert (first.started, first.duration_s) == (datetime(2025, 8, 1, 10, tzinfo=UTC), 90)
    assert (first.input_tokens, first.output_tokens, first.prompt) == (1000, 100, "Do hello.")
    assert first.metrics == {"agent_s": 50, "tests": 1, "tests_passed": 1}
    assert not unread.is_parsed
    assert results.model == "openai/demo"
    assert results.facts["dataset_version"] == "0.1.1"

    whole = tmp_path / "results.json"
    trial = tmp_path / "hello" / "hello.1-of-2.run" / "results.json"
    written.write_json(trial, written.terminal_trial("hello", 1, "none", resolved=True))
    whole.unlink()
    (single,) = read("terminalbench-native", tmp_path).attempts
    assert single.value == 1
    assert read("terminalbench-native", trial).attempts[0].task_id == "hello"


def test_deepplanning(tmp_path: Path) -> None:
    """Carts by the official rule, with levels and validity; plans, with a 0 for each missing one."""
    results = read("deepplanning", written.deepplanning(tmp_path / "carts"))
    assert [
        (attempt.task_id, attempt.value, attempt.ending, attempt.turns) for attempt in results.attempts
    ] == [
        ("level1/case_2", 1, "completed", 2),
        ("level1/case_10", 0, "max_turns", 1),
        ("level3/case_1", 0, "failed", 1),
    ]
    assert results.attempts[1].metrics == {"matched": 1, "expected": 2}
    assert (results.attempts[0].prompt, results.attempts[0].answer) == ("Buy shoes.", "Done.")
    assert results.attempts[2].tags == {"level": "3"}
    assert "not valid" in results.notes[0]
    level = read("deepplanning", tmp_path / "carts" / "database_m_level1_2")
    assert [attempt.task_id for attempt in level.attempts] == ["level1/case_2", "level1/case_10"]
    plans = read("deepplanning", written.deepplanning_travel(tmp_path / "plans")).attempts
    assert [(plan.task_id, plan.value, plan.ending) for plan in plans] == [
        ("0", 1, "completed"),
        ("2", 0, "completed"),
        ("1", 0, "failed"),
    ]
    assert plans[1].metrics["composite_score"] == 0.75


def test_harbor(tmp_path: Path) -> None:
    """Rewards, a missing one as 0, tokens of steps, the leaderboard's figure, trials that have not ended."""
    results = read("harbor", written.harbor(tmp_path / "job"))
    shown = {
        attempt.details["trial"]: (attempt.value, attempt.ending, attempt.failure, attempt.input_tokens)
        for attempt in results.attempts
    }
    assert shown == {
        "hello__aaa": (1, "completed", None, 5000),
        "hello__bbb": (0, "max_time", "AgentTimeoutError", 5000),
        "fix__ccc": (0, "failed", "EnvironmentStartTimeoutError", None),
        "fix__ddd": (1, "completed", None, 20),
    }
    by_name = {attempt.details["trial"]: attempt for attempt in results.attempts}
    assert by_name["hello__aaa"].metrics == {"cost_usd": 0.25, "agent_s": 180}
    assert by_name["hello__aaa"].duration_s == 300
    assert results.model == "openai/demo"
    unended, leaderboard = results.notes
    assert unended.startswith("1 trials had not ended")
    # p = 1/2 for both tasks: sqrt(2 x 1/4 / 1) / 2.
    assert "0.5000 with a standard error of 0.3536, over 2 tasks with 4 attempts" in leaderboard

    reward = tmp_path / "files" / "hello__aaa" / "verifier" / "reward.txt"
    reward.parent.mkdir(parents=True)
    reward.write_text("0.75\n")
    (attempt,) = read("harbor", tmp_path / "files").attempts
    assert (attempt.task_id, attempt.value) == ("hello", 0.75)


def test_swefficiency(tmp_path: Path) -> None:
    """The ratios by the rule, behind the gate of the tests; a report that deviates is named."""
    report = written.swefficiency(tmp_path)
    results = read("swefficiency", report)
    assert [attempt.value for attempt in results.attempts] == [0.5, 0.5, 0.25]
    assert [attempt.metrics["correct"] for attempt in results.attempts] == [1, 0, 0]
    assert not results.notes
    report.write_text(report.read_text().replace("2.0,2.0,4.0,0.5", "2.0,2.0,4.0,0.6"))
    assert read("swefficiency", report).notes[0].startswith("1 of 3 ratios")


def test_pinchbench(tmp_path: Path) -> None:
    """Each attempt has the grade of its number, and no tokens where there was no transcript."""
    results = read("pinchbench", written.pinchbench(tmp_path))
    assert [(attempt.task_id, attempt.value) for attempt in results.attempts] == [
        ("task_01", 1.0),
        ("task_01", 0.5),
        ("task_02", 0.0),
    ]
    first, _, failed = results.attempts
    assert (first.turns, first.duration_s, first.input_tokens, first.cached_tokens) == (3, 12.5, 900, 300)
    assert first.tags == {"grading": "automated", "category": "files"}
    assert first.metrics["cost_usd"] == 0.01
    assert (failed.failure, failed.output_tokens) == ("error", None)
    (note,) = results.notes
    assert note.endswith("the mean over tasks, which is the rule, is 0.3750")


def test_pinchbench_without_runs(tmp_path: Path) -> None:
    """`grading` may be the grade, and an upload has it in the entry, with a time and no status."""
    grade = {"score": 1.5, "max_score": 2.0, "grading_type": "hybrid", "breakdown": {"a": 0.5}, "notes": "ok"}
    run = {"task_id": "task_03", "status": "success", "execution_time": 4.0, "usage": {}, "grading": grade}
    path = written.write_json(tmp_path / "run.json", {"model": "demo", "timestamp": 1.0, "tasks": [run]})
    sent = {"task_id": "task_03", "timed_out": True, "execution_time_seconds": 4.0, **grade}
    upload = {"model": "demo", "timestamp": "2026-01-01T12:00:00Z", "tasks": [sent]}
    for results, ending in (
        (read("pinchbench", path), "completed"),
        (read("pinchbench", written.write_json(tmp_path / "upload.json", upload)), "max_time"),
    ):
        (attempt,) = results.attempts
        assert (attempt.value, attempt.duration_s, attempt.ending) == (0.75, 4.0, ending)
        assert attempt.tags["grading"] == "hybrid"
        assert attempt.metrics["criterion.a"] == 0.5
    assert results.facts["written_at"] == "2026-01-01T12:00:00+00:00"


def test_web_chore_arena(tmp_path: Path) -> None:
    """AgentOccam's table and trajectories, and BrowserGym's folders of the same benchmark."""
    results = read("webchorearena", written.web_chore_arena(tmp_path / "occam"))
    assert [(attempt.value, attempt.ending, attempt.turns) for attempt in results.attempts] == [
        (0.5, "completed", 7),
        (1.0, "completed", 4),
        (0.0, "failed", None),
    ]
    assert [attempt.tags["site"] for attempt in results.attempts] == ["shopping_admin", "shopping", "reddit"]
    assert (results.attempts[0].prompt, results.attempts[0].answer) == ("Sum the prices.", "stop [42]")
    assert results.model == "demo"

    written.experiment(tmp_path / "gym" / "webarena.40011", cum_reward=0.5)
    (attempt,) = read("webchorearena", tmp_path / "gym").attempts
    assert (attempt.task_id, attempt.value, attempt.tags, attempt.turns) == (
        "40011",
        0.5,
        {"site": "gitlab"},
        5,
    )


def test_workarena(tmp_path: Path) -> None:
    """The task and its seed from the folder's name; hidden folders and unended experiments are left out."""
    results = read("workarena", written.workarena(tmp_path))
    assert [(attempt.task_id.partition("servicenow.")[2], attempt.value) for attempt in results.attempts] == [
        ("order-standard-laptop:42", 1.0),
        ("order-standard-laptop:43", 0.0),
        ("sort-user-list:42", 0.0),
    ]
    solved, truncated, failed = results.attempts
    assert (solved.turns, solved.input_tokens, solved.metrics["cost_usd"]) == (5, 4000, 0.02)
    assert truncated.ending == "max_turns"
    assert (failed.ending, failed.reason) == ("failed", "no page")
    assert results.facts == {"agent": "GenericAgent-demo"}
    assert results.notes == ["1 experiments had not ended, and are left out"]


def test_lifelong_agent(tmp_path: Path) -> None:
    """Outcomes by environment; a session at the limit is judged all the same."""
    results = read("lifelong-agent", written.lifelong_agent(tmp_path))
    assert [(attempt.task_id, attempt.value, attempt.ending) for attempt in results.attempts] == [
        ("db_bench:0", 1, "completed"),
        ("db_bench:1", 0, "max_turns"),
        ("os_interaction:0", 0, "failed"),
        ("db_bench:2", 1, "completed"),
    ]
    first = results.attempts[0]
    assert (first.turns, first.prompt) == (2, "How many cats are there?")
    assert first.answer == "Action: Answer\nFinal Answer: 3"
    assert first.metrics == {"f1_score": 0.5}


def _changed(name: str, folder: Path, old: str, new: str) -> Path:
    """The sample of a format with a text replaced in the file that has it."""
    path = written.WRITERS[name](folder)
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    file = next(file for file in files if old in file.read_text())
    file.write_text(file.read_text().replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("terminalbench-native", '"task_id": "fix",', "", "results.json: results[2].task_id is missing"),
        (
            "terminalbench-native",
            '"is_resolved": true',
            '"is_resolved": "yes"',
            "[0].is_resolved must be true or",
        ),
        (
            "terminalbench-native",
            '"results"',
            '"outcomes"',
            "results is missing: not a results.json of",
        ),
        (
            "terminalbench-native",
            "2025-08-01T10:00:00+00:00",
            "soon",
            "trial_started_at must be a time in ISO 8601",
        ),
        (
            "harbor",
            '"reward": 1.0',
            '"reward": "high"',
            "verifier_result.rewards.reward must be a finite number",
        ),
        (
            "deepplanning",
            '"quantity": 2',
            '"quantity": "two"',
            "used_coupons[0].quantity must be a finite number",
        ),
        ("deepplanning", '"items"', '"products"', "cart.json: items is missing"),
        ("harbor", '"reward": 1.0', '"reward": 1e308', "rewards.reward must be a finite number"),
        (
            "terminalbench-native",
            '"instruction": "Do ',
            '"instruction": "\\ud800Do ',
            "half of a surrogate pair in a text",
        ),
        ("harbor", '"reward": 1.0', '"a": 1, "b": 2', "none of the rewards a, b is named reward"),
        ("swefficiency", "gold_speedup_ratio", "gold", "no column gold_speedup_ratio"),
        (
            "swefficiency",
            ",4.0,0.5",
            ",fast,0.5",
            "csv:2: gold_speedup_ratio must be a finite number, not 'fast'",
        ),
        ("pinchbench", '"model": "openrouter/demo",', "", "model is missing"),
        (
            "pinchbench",
            '"score": 1.0',
            '"score": -Infinity',
            "tasks[0].grading.runs[0].score must be a finite number",
        ),
        ("webchorearena", "0.5", "half", "summary.csv:2: reward must be a finite number, not 'half'"),
        ("webchorearena", ",demo,", ",other,", "has results of several models: demo, other"),
        ("workarena", '"cum_reward": 1.0', '"cum_reward": null', "summary_info.json: cum_reward is missing"),
        (
            "lifelong-agent",
            '"outcome": "correct"',
            '"outcome": "good"',
            "evaluation_record.outcome must be one of",
        ),
        (
            "lifelong-agent",
            '"role": "agent"',
            '"role": "bot"',
            "chat_history.value[1].role must be user or agent",
        ),
    ],
)
def test_a_wrong_value_is_named_with_file_and_key(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    """One message, with the place."""
    path = _changed(name, tmp_path, old, new)
    with pytest.raises(WorkloadError) as raised:
        read(name, path)
    assert message in str(raised.value)
    assert str(tmp_path) in str(raised.value)


def test_what_is_not_there_or_of_another_kind(tmp_path: Path) -> None:
    """A missing path, a folder without results, a file that was cut off, one that is not an object."""
    (tmp_path / "empty").mkdir()
    for name in FORMATS:
        for path in (tmp_path / "nowhere", tmp_path / "empty"):
            with pytest.raises(WorkloadError, match=str(path)):
                read(name, path)
    cut: Any = {
        "harbor": "job/hello__aaa/result.json",
        "lifelong-agent": "runs.json",
        "pinchbench": "0001_openrouter-demo.json",
        "terminalbench-native": "results.json",
    }
    for name, file in cut.items():
        folder = tmp_path / name
        path = written.WRITERS[name](folder / "job" if name == "harbor" else folder)
        whole = (folder / file).read_text()
        (folder / file).write_text(whole[: len(whole) // 2])
        with pytest.raises(WorkloadError, match=r"is not JSON: .*; the file may be cut off"):
            read(name, path)
        (folder / file).write_text("3")
        with pytest.raises(WorkloadError):
            read(name, path)
