"""Small results in the published format of each harness, written by hand from its source."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def write_json(path: Path, value: Any) -> Path:
    """Write a JSON file, and the folders around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=4), encoding="utf-8")
    return path


def terminal_trial(
    task: str, number: int, mode: str, *, resolved: bool | None, **more: Any
) -> dict[str, Any]:
    """One of Terminal-Bench's trials."""
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "trial_name": f"{task}.{number}-of-2.run",
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": resolved,
        "failure_mode": mode,
        "parser_results": None if resolved is None else {"test_a": "passed" if resolved else "failed"},
        "recording_path": f"run/{task}/sessions/agent.cast",
        "total_input_tokens": 1000,
        "total_output_tokens": 100,
        "trial_started_at": "2025-08-01T10:00:00+00:00",
        "trial_ended_at": "2025-08-01T10:01:30+00:00",
        "agent_started_at": "2025-08-01T10:00:10+00:00",
        "agent_ended_at": "2025-08-01T10:01:00+00:00",
        "test_started_at": None,
        "test_ended_at": None,
        **more,
    }


def terminal_bench(folder: Path) -> Path:
    """A run of two tasks with two attempts each: solved, out of time, a failed agent, unread tests."""
    trials = [
        terminal_trial("hello", 1, "none", resolved=True),
        terminal_trial("hello", 2, "agent_timeout", resolved=False),
        terminal_trial("fix", 1, "unknown_agent_error", resolved=None),
        terminal_trial("fix", 2, "parse_error", resolved=None),
    ]
    write_json(folder / "results.json", {"id": "x", "results": trials, "n_resolved": 1, "accuracy": 0.25})
    metadata = {
        "run_id": "run",
        "model_name": "openai/demo",
        "agent_name": "terminus-2",
        "dataset_name": "terminal-bench-core",
        "dataset_version": "0.1.1",
    }
    write_json(folder / "run_metadata.json", metadata)
    return folder


def harbor_trial(folder: Path, task: str, name: str, **more: Any) -> Path:
    """The folder of a trial, with its result.json."""
    result = {
        "id": "x",
        "task_name": task,
        "trial_name": name,
        "trial_uri": f"file:///jobs/{name}",
        "task_id": {"path": task},
        "source": "terminal-bench",
        "task_checksum": "abc",
        "config": {},
        "agent_info": {
            "name": "terminus-2",
            "version": "2.0.0",
            "model_info": {"name": "demo", "provider": "openai"},
        },
        "agent_result": {
            "n_input_tokens": 5000,
            "n_cache_tokens": 4000,
            "n_output_tokens": 500,
            "cost_usd": 0.25,
        },
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-01T12:00:00Z",
        "finished_at": "2026-01-01T12:05:00Z",
        "agent_execution": {"started_at": "2026-01-01T12:01:00Z", "finished_at": "2026-01-01T12:04:00Z"},
        **more,
    }
    write_json(folder / name / "result.json", result)
    return folder / name


def _exception(kind: str) -> dict[str, str]:
    return {
        "exception_type": kind,
        "exception_message": "after 900 s",
        "exception_traceback": "",
        "occurred_at": "2026-01-01T12:04:00Z",
    }


def harbor(folder: Path) -> Path:
    """A job of two tasks with two attempts each, one in steps, one without a reward; and one that runs."""
    write_json(folder / "result.json", {"id": "x", "n_total_trials": 5, "stats": {"n_completed_trials": 4}})
    harbor_trial(folder, "hello", "hello__aaa")
    timeout = _exception("AgentTimeoutError")
    no_reward = {"verifier_result": {"rewards": {"reward": 0.0}}, "exception_info": timeout}
    harbor_trial(folder, "hello", "hello__bbb", **no_reward)
    broken = {"verifier_result": None, "exception_info": _exception("EnvironmentStartTimeoutError")}
    harbor_trial(folder, "fix", "fix__ccc", **broken, agent_result=None)
    step = {"step_name": "one", "agent_result": {"n_input_tokens": 10, "n_output_tokens": 1}}
    in_steps = {
        "agent_result": None,
        "step_results": [step, step],
        "verifier_result": {"rewards": {"all": 1}},
    }
    harbor_trial(folder, "fix", "fix__ddd", **in_steps)
    write_json(folder / "fix__eee" / "config.json", {})
    return folder


def swefficiency(folder: Path) -> Path:
    """A report: one faster and correct, one faster and wrong, one that was not run."""
    columns = (
        *("instance_id", "raw_pred_speedup_ratio", "pred_speedup_ratio", "gold_speedup_ratio"),
        *("human_speedup_ratio", "correctness", "correctness_pct", "pre_edit_runtime", "patch_length"),
    )
    rows = [
        ",".join(columns),
        "pandas-dev__pandas-1,2.0,2.0,4.0,0.5,1.0,1.0,0.35,14",
        "pandas-dev__pandas-2,3.0,1.0,2.0,0.5,0.0,0.99,0.41,72",
        "numpy__numpy-3,,1.0,4.0,0.25,0.0,0.0,0.2,9",
    ]
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "eval_report_demo.csv"
    report.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return report


def _pinch_entry(
    task: str, kind: str, scores: list[float], status: str = "success", **usage: Any
) -> dict[str, Any]:
    runs = [
        {
            "task_id": task,
            "score": score,
            "max_score": 1.0,
            "grading_type": kind,
            "breakdown": {"file_exists": score},
            "notes": "",
        }
        for score in scores
    ]
    counted = {
        "input_tokens": 900,
        "output_tokens": 80,
        "cache_read_tokens": 300,
        "cache_write_tokens": 0,
        "total_tokens": 1280,
        "cost_usd": 0.01,
        "request_count": 3,
    }
    return {
        "task_id": task,
        "thinking_level": None,
        "status": status,
        "timed_out": status == "timeout",
        "execution_time": 12.5,
        "transcript_length": 7,
        "usage": {**counted, **usage},
        "workspace": "/tmp/pinchbench/0001/agent_workspace",  # noqa: S108 (as the harness writes it)
        "grading": {"runs": runs, "mean": sum(scores) / len(scores), "std": 0.0},
        "frontmatter": {"id": task, "category": "files", "grading_type": kind},
    }


def pinchbench(folder: Path) -> Path:
    """A run of two tasks, the first one twice."""
    nothing = dict.fromkeys(("input_tokens", "output_tokens", "total_tokens", "request_count", "cost_usd"), 0)
    tasks = [
        *[_pinch_entry("task_01", "automated", [1.0, 0.5])] * 2,
        _pinch_entry("task_02", "llm_judge", [0.0], "error", **nothing),
    ]
    run = {
        "model": "openrouter/demo",
        "benchmark_version": "0d59a40",
        "run_id": "0001",
        "timestamp": 1767268800.0,
        "suite": "all",
        "runs_per_task": 2,
        "tasks": tasks,
        "efficiency": {},
    }
    return write_json(folder / "0001_openrouter-demo.json", run)


def web_chore_arena(folder: Path) -> Path:
    """AgentOccam's log folder: a part of the credit, and an agent that failed; one trajectory."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"task_id": "10110", "reward": 0.5, "success": 1.0, "done": True, "num_actions": 7},
        {"task_id": "20001", "reward": 1.0, "success": 1.0, "done": True, "num_actions": 4},
        {"task_id": "30002", "reward": 0, "success": 0, "done": False, "num_actions": ""},
    ]
    with (folder / "summary.csv").open("w", newline="", encoding="utf-8") as file:
        shared = {"task": "config_files/x.json", "model": "demo", "type": "AgentOccam", "logfile": "x.json"}
        table = csv.DictWriter(file, [*shared, *rows[0]])
        table.writeheader()
        table.writerows({**shared, **row} for row in rows)
    steps = [{"objective": "Sum the prices.", "action": "click [12]"}, {"action": "stop [42]"}]
    write_json(folder / "10110.json", {"id": 10110, "trajectory": steps})
    return folder


def experiment(folder: Path, **more: Any) -> Path:
    """The folder of one of BrowserGym's experiments."""
    summary = {
        "n_steps": 5,
        "cum_reward": 1.0,
        "cum_raw_reward": 0,
        "err_msg": None,
        "stack_trace": None,
        "stats.cum_steps": 6,
        "stats.cum_input_tokens": 4000,
        "stats.cum_output_tokens": 200,
        "stats.cum_cost": 0.02,
        "stats.cum_agent_elapsed": 30.5,
        "stats.cum_step_elapsed": 12.0,
        "terminated": True,
        "truncated": False,
    }
    write_json(folder / "summary_info.json", {**summary, **more})
    return folder


def workarena(folder: Path) -> Path:
    """A study of three experiments that ended and one that did not."""
    begin = "2026-01-01_12-00-00_GenericAgent-demo_on_workarena.servicenow"
    experiment(folder / f"{begin}.order-standard-laptop_42")
    experiment(
        folder / f"{begin}.order-standard-laptop_43_1", cum_reward=0.0, terminated=False, truncated=True
    )
    error = "Exception uncaught by agent or environment in task x.\nTimeoutError:\nno page"
    experiment(folder / f"{begin}.sort-user-list_42", cum_reward=0, err_msg=error, terminated=False)
    (folder / f"{begin}.sort-user-list_43").mkdir()
    (folder / f"{begin}.sort-user-list_43" / "exp_args.pkl").write_bytes(b"")
    experiment(folder / f"_{begin}.sort-user-list_44")
    return folder


def _lifelong_session(task: str, index: int | str, status: str, outcome: str, **more: Any) -> dict[str, Any]:
    spoken = [
        ("user", "You are an agent with a database."),
        ("agent", "Ok."),
        ("user", "How many cats are there?"),
        ("agent", "Action: Operation"),
        ("user", "[(3,)]"),
        ("agent", "Action: Answer\nFinal Answer: 3"),
    ]
    return {
        "task_name": task,
        "sample_index": index,
        "sample_status": status,
        "chat_history": {"value": [{"role": role, "content": content} for role, content in spoken]},
        "finish_reason": None,
        "task_output": {"answer": "3"},
        "evaluation_record": {"outcome": outcome, "detail_dict": {"f1_score": 0.5}},
        **more,
    }


def lifelong_agent(folder: Path) -> Path:
    """Four sessions: right, wrong at the limit, an environment that failed, right at the limit."""
    sessions = [
        _lifelong_session("db_bench", 0, "completed", "correct"),
        _lifelong_session("db_bench", 1, "task_limit_reached", "incorrect", finish_reason="The limit is 3."),
        _lifelong_session(
            "os_interaction", "0", "task_environment_error", "unknown", chat_history={"value": []}
        ),
        _lifelong_session("db_bench", 2, "task_limit_reached", "correct"),
    ]
    write_json(folder / "runs.json", sessions)
    return folder


def deepplanning(folder: Path) -> Path:
    """Three cases of two levels: a right cart, a wrong coupon at the limit, no cart."""
    call = {"id": "a", "type": "function", "function": {"name": "get_cart_info", "arguments": "{}"}}
    spoken = [
        {"role": "user", "content": "Buy shoes."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    ended = [*spoken, {"role": "tool", "content": "{}"}, {"role": "assistant", "content": "Done."}]
    wanted = {
        "query": "Buy shoes.",
        "ground_truth_products": [{"product_id": "p1", "name": "Shoes"}],
        "ground_truth_coupons": {"VIP": 2},
    }
    cases: list[tuple[str, list[Any], int | None]] = [
        ("database_m_level1_2/case_2", ended, 2),
        ("database_m_level1_2/case_10", spoken, 1),
        ("database_m_level3_2/case_1", spoken, None),
    ]
    for name, messages, quantity in cases:
        write_json(folder / name / "validation_cases.json", wanted)
        write_json(folder / name / "messages.json", {"step": 2, "messages": messages})
        if quantity is not None:
            cart = {
                "items": [{"product_id": "p1", "quantity": 1}, {"product_id": "p2"}],
                "used_coupons": [{"coupon_name": "VIP", "quantity": quantity}],
            }
            write_json(folder / name / "cart.json", cart)
    return folder


def deepplanning_travel(folder: Path) -> Path:
    """The evaluation of two of three tasks: one plan meets everything."""
    for number, share in ((0, 1.0), (2, 0.5)):
        scores = {
            "commonsense_weighted_score": share,
            "personalized_score": 1.0,
            "composite_score": (share + 1) / 2,
            "case_acc": float(share == 1),
        }
        write_json(
            folder / "evaluation" / f"id_{number}_score.json", {"sample_id": str(number), "scores": scores}
        )
    write_json(folder / "evaluation" / "evaluation_summary.json", {"total_test_samples": 3})
    return folder


WRITERS: Mapping[str, Callable[[Path], Path]] = {
    "deepplanning": deepplanning,
    "harbor": harbor,
    "lifelong-agent": lifelong_agent,
    "pinchbench": pinchbench,
    "swefficiency": swefficiency,
    "terminalbench-native": terminal_bench,
    "webchorearena": web_chore_arena,
    "workarena": workarena,
}
"""By the format; each returns what `loadgen import` is given."""
