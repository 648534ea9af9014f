"""LifelongAgentBench: the sessions of an experiment, `runs.json`.

caixd-220529/LifelongAgentBench at d6f19b42, `src/typings/session.py`, `src/run_experiment.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.results.fields import file_in, objects, read_json
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.errors import MalformedError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import Fields
    from loadgen.plugins.imports.results.harness_results import Ending

_OUTCOMES: Final = frozenset({"correct", "incorrect", "unknown", "unset", "ignored"})
_ENDINGS: Final[Mapping[str, Ending]] = {
    "task_limit_reached": "max_turns",
    "agent_context_limit": "max_tokens",
    "task_environment_error": "failed",
    "task_unknown_error": "failed",
    "agent_out_of_memory": "failed",
    "agent_unknown_error": "failed",
}
_IN_ORDER: Final = frozenset({"completed", "task_limit_reached", "agent_validation_failed"})
"""Statuses of sessions in which only the agent can have made a mistake."""

_ROLES: Final = {"user": "user", "agent": "assistant"}
_OPENING: Final = 2
"""A conversation begins with the instruction and an assent that the benchmark wrote itself."""


def read(path: Path) -> HarnessResults:
    """Read the output folder of an experiment, or the folder's runs.json."""
    file = file_in(path, "runs.json", "the output of LifelongAgentBench")
    sessions = read_json(file)
    if not isinstance(sessions, list):
        raise MalformedError(f"{file} is not a list of sessions, as LifelongAgentBench writes them")
    attempts = [_attempt(session) for session in objects(file, "sessions", sessions)]
    if not attempts:
        raise MalformedError(f"{file} has no sessions")
    return HarnessResults(attempts=attempts, groups=("environment",))


def _attempt(session: Fields) -> Attempt:
    environment, index = session.text("task_name"), session.values.get("sample_index")
    if isinstance(index, bool) or not isinstance(index, int | str) or index == "":
        raise session.wrong("sample_index", "a number or a text", index)
    status, record = session.text("sample_status"), session.members("evaluation_record")
    if record is None:
        raise session.error("evaluation_record", "is missing")
    outcome = record.text("outcome")
    if outcome not in _OUTCOMES:
        raise record.wrong("outcome", f"one of {', '.join(sorted(_OUTCOMES))}", outcome)
    is_correct = outcome == "correct"
    messages = _messages(session)
    answered = [message for message in messages[_OPENING:] if message["role"] == "assistant"]
    return Attempt(
        task_id=f"{environment}:{index}",
        value=float(is_correct),
        ending="completed" if is_correct else _ENDINGS.get(status, "completed"),
        failure=None if status in _IN_ORDER else status,
        reason=session.optional_text("finish_reason") or (None if status == "completed" else status),
        tags={"environment": environment},
        metrics=_figures(record),
        details={"outcome": outcome, "status": status},
        prompt=messages[_OPENING]["content"] if len(messages) > _OPENING else None,
        answer=answered[-1]["content"] if answered else None,
        messages=messages,
        turns=len(answered) if messages else None,
    )


def _messages(session: Fields) -> Sequence[Mapping[str, Any]]:
    history = session.inside("chat_history")
    if history.values.get("value") is None:
        return []
    messages = []
    for item in history.list("value"):
        role = item.text("role")
        if role not in _ROLES:
            raise item.wrong("role", "user or agent", role)
        messages.append({"role": _ROLES[role], "content": item.optional_text("content") or ""})
    return messages


def _figures(record: Fields) -> dict[str, float]:
    """The numbers of the detailed evaluation: F1, for one."""
    values = record.inside("detail_dict").values
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


FORMAT: Final = ResultFormat(
    "lifelong-agent",
    "LifelongAgentBench: the output folder of an experiment, or its runs.json",
    "caixd-220529/LifelongAgentBench at d6f19b42, src/tasks/task.py",
    read,
    (Headline("accuracy"),),
)
