"""WebChoreArena in live sites: the log folder of AgentOccam, or the experiments of BrowserGym.

WebChoreArena/WebChoreArena at 88c57013, `AgentOccam/eval_webchorearena.py`, `BrowserGym/run.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.imports.results.browser_gym import SUMMARY, attempt_in, experiments
from loadgen.plugins.imports.results.fields import read_fields, read_rows, require_there
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.errors import MalformedError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.plugins.imports.results.fields import TableRow

_COLUMNS: Final = ("task_id", "model", "reward", "num_actions")
_SITES: Final = {"1": "shopping_admin", "2": "shopping", "3": "reddit", "4": "gitlab", "5": "cross_site"}
"""By the first of the five digits of a task's number."""

_DIGITS: Final = 5


def read(path: Path) -> HarnessResults:
    """Read a folder with AgentOccam's summary.csv, that file, or a folder of BrowserGym's experiments."""
    require_there(path)
    table = path if path.suffix == ".csv" else path / "summary.csv"
    return _of_table(table) if table.is_file() else _of_experiments(path)


def _of_experiments(path: Path) -> HarnessResults:
    """Results in BrowserGym's format, with folders named by task: `webarena.10110`."""
    folders, notes = experiments(path)
    attempts = []
    for folder in folders:
        number = folder.name.rpartition(".")[2]
        if not number.isdigit():
            raise MalformedError(
                f"{folder / SUMMARY}: its folder is not named by a task, as in webarena.10110"
            )
        attempt = attempt_in(folder, number)
        attempts.append(_with_site(attempt))
    return HarnessResults(attempts=attempts, facts={"agent": "BrowserGym"}, groups=("site",), notes=notes)


def _of_table(table: Path) -> HarnessResults:
    rows = list(read_rows(table, _COLUMNS, "a summary of AgentOccam"))
    models = sorted({row.text("model") for row in rows})
    if len(models) > 1:
        raise MalformedError(f"{table} has results of several models: {', '.join(models)}")
    agents = {row.values.get("type") for row in rows}
    return HarnessResults(
        attempts=[_with_site(_attempt(row)) for row in rows],
        model=models[0],
        facts={"agent": agents.pop()} if len(agents) == 1 else {},
        groups=("site",),
    )


def _attempt(row: TableRow) -> Attempt:
    task, actions = row.text("task_id"), row.optional_number("num_actions")
    file = row.path.with_name(f"{task}.json")
    trajectory = [step.values for step in read_fields(file).list("trajectory")] if file.is_file() else []
    failure = "the agent's code failed" if actions is None else None
    return Attempt(
        task_id=task,
        value=row.number("reward"),
        # Without a number of actions the agent's code failed.
        ending="completed" if failure is None else "failed",
        failure=None if failure is None else "agent_failed",
        reason=failure,
        prompt=_text(trajectory[0], "objective") if trajectory else None,
        answer=_text(trajectory[-1], "action") if trajectory else None,
        turns=None if actions is None else int(actions),
    )


def _text(step: Mapping[str, Any], key: str) -> str | None:
    value = step.get(key)
    return value if isinstance(value, str) and value else None


def _with_site(attempt: Attempt) -> Attempt:
    site = _SITES.get(attempt.task_id[:1]) if len(attempt.task_id) == _DIGITS else None
    return attempt if site is None else replace(attempt, tags={"site": site})


FORMAT: Final = ResultFormat(
    "webchorearena",
    "WebChoreArena: AgentOccam's log folder with summary.csv, or BrowserGym's results",
    "WebChoreArena/WebChoreArena at 88c57013, AgentOccam/evaluation_harness/evaluators.py",
    read,
    (Headline("score"), Headline("solved", "avg((value >= 1)::INTEGER)")),
)
