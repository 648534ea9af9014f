"""BrowserGym's experiments, including WorkArena's: a folder with `summary_info.json` each.

AgentLab 0.4.2, `agentlab/experiments/loop.py`, and browsergym-experiments 0.14.3, the same file. What an
experiment asked is only in a pickle, which is not read: its task, agent and seed are in the folder's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.imports.results.fields import read_fields, require_there
from loadgen.plugins.imports.results.harness_results import Attempt, HarnessResults, ResultFormat
from workloads.errors import MalformedError, SourceError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SUMMARY: Final = "summary_info.json"
_ARGUMENTS: Final = "exp_args.pkl"
_NAME: Final = re.compile(
    r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_(?P<agent>.+)_on_(?P<task>.+?)_(?P<seed>\d+|None)(_\d{1,3})?"
)
_FIGURES: Final = {
    "cost_usd": "stats.cum_cost",
    "agent_s": "stats.cum_agent_elapsed",
    "environment_s": "stats.cum_step_elapsed",
    "raw_reward": "cum_raw_reward",
}


def read(path: Path) -> HarnessResults:
    """Read a study's folder, or that of one experiment."""
    folders, notes = experiments(path)
    attempts, agents = [], set()
    for folder in folders:
        named = _NAME.fullmatch(folder.name)
        if named is None:
            raise MalformedError(
                f"{folder}: the name is not DATE_AGENT_on_TASK_SEED, which says what was asked"
            )
        agents.add(named["agent"])
        attempts.append(attempt_in(folder, named["task"], seed=named["seed"]))
    agent = agents.pop() if len(agents) == 1 else None
    if agents:
        raise MalformedError(
            f"{path} has experiments of several agents: import the folder of a study with one"
        )
    return HarnessResults(attempts=attempts, facts={"agent": agent}, notes=notes)


def experiments(path: Path) -> tuple[Sequence[Path], list[str]]:
    """The folders of experiments that ended, and notes on the others.

    Folders whose names begin with `_` or `.` are hidden, as for AgentLab.

    Raises:
        SourceError: No folder has one.
    """
    require_there(path)
    folder = path if path.is_dir() else path.parent
    if (folder / SUMMARY).is_file():
        return [folder], []
    ended = sorted({file.parent for file in folder.rglob(SUMMARY) if not _is_hidden(file.parent, folder)})
    begun = {file.parent for file in folder.rglob(_ARGUMENTS) if not _is_hidden(file.parent, folder)}
    if not ended:
        raise SourceError(f"{folder} has no experiments of BrowserGym: no folder in it has a {SUMMARY}")
    unended = len(begun - set(ended))
    return ended, [f"{unended:,} experiments had not ended, and are left out"] * bool(unended)


def _is_hidden(folder: Path, study: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in folder.relative_to(study).parts)


def attempt_in(folder: Path, task: str, *, seed: str | None = None) -> Attempt:
    """The attempt in the folder of an experiment."""
    summary = read_fields(folder / SUMMARY)
    error, truncated = summary.optional_text("err_msg"), summary.flag("truncated")
    figures = {name: summary.optional_number(key) for name, key in _FIGURES.items()}
    return Attempt(
        task_id=task if seed in {None, "None"} else f"{task}:{seed}",
        value=summary.number("cum_reward"),
        ending="failed" if error else "max_turns" if truncated else "completed",
        failure="experiment_error" if error else None,
        reason=error.strip().splitlines()[-1] if error and error.strip() else None,
        tags={} if seed is None else {"task": task},
        metrics={name: figure for name, figure in figures.items() if figure is not None},
        details={"experiment": folder.name},
        turns=summary.count("n_steps"),
        input_tokens=summary.count("stats.cum_input_tokens"),
        output_tokens=summary.count("stats.cum_output_tokens"),
    )


FORMAT: Final = ResultFormat(
    "workarena",
    "WorkArena and other BrowserGym benchmarks: the folder of an AgentLab study",
    "AgentLab 0.4.2, agentlab/analyze/inspect_results.py",
    read,
    (Headline("success"), Headline("cost_usd", "sum(metrics['cost_usd'])", "number", "lower")),
)
