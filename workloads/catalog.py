"""Every benchmark by name, from the registry of plug-ins; imported on use."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from workloads.errors import PluginError, TaskError, letters, near_name, nearest
from workloads.registry import entries, load, shadowed, unusable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.scorer import Scorer
    from workloads.workload import Workload


def names() -> list[str]:
    """The names of all benchmarks."""
    return list(entries("benchmarks"))


def aliases() -> Mapping[str, str]:
    """Other names of benchmarks. Case, hyphens, blanks and underscores never matter."""
    return {
        other: name for name, entry in entries("benchmarks").items() for other in entry.facts.get("also", ())
    }


def fact(text: str, key: str) -> Any:
    """A fact of the manifest about the benchmark of a task in the user's notation; None without one."""
    entry = entries("benchmarks").get(task_name(text.partition(":")[0]) or "")
    return None if entry is None else entry.facts.get(key)


def task_name(name: str) -> str | None:
    """The canonical name of a benchmark in any spelling (`MMLU-Pro`, `math-500`); None for no benchmark."""
    return name if name in entries("benchmarks") else _names().get(_letters(name))


def is_task(name: str) -> bool:
    """Whether a benchmark has this name, in any spelling."""
    return task_name(name) is not None


def canonical(text: str) -> str:
    """A task with the canonical name, `mmlu_pro:shots=0` for `MMLU-Pro:shots=0`; others stay."""
    name, colon, options = text.partition(":")
    return f"{task_name(name) or name}{colon}{options}"


def _letters(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


@cache
def _names() -> Mapping[str, str]:
    """Every benchmark by letters and digits of its names; those of this program go first."""
    spelt: dict[str, str] = {}
    for other, name in (*aliases().items(), *zip(names(), names(), strict=True)):
        spelt.setdefault(_letters(other), name)
    return spelt


def workload(name: str) -> Workload:
    """A benchmark by name, with plug-ins' scorers; raise `TaskError`, or `PluginError` for a broken one."""
    canonical = task_name(name)
    if canonical is None:
        near = nearest(name, names())
        if form := run_elsewhere(name, near_name(name, (*names(), *aliases()))):
            raise TaskError(
                f"{name!r} is run by another program; import the results: loadgen import {form} RESULTS"
            )
        hint = f" Did you mean {near!r}?" if near else ""
        raise TaskError(f"Unknown task {name!r}.{hint} See `loadgen list tasks`")
    return with_added_scorers(_loaded(canonical))


def _loaded(name: str) -> Workload:
    entry = entries("benchmarks")[name]
    workload: Workload = load(entry)
    if workload.name != name or not workload.scorers:
        raise unusable(
            entry, f"the plug-in's name is {workload.name!r}" if workload.name != name else "no scorer"
        )
    return workload


def run_elsewhere(name: str, task: str | None) -> str | None:
    """The format of the harness's results that a benchmark's name means; None for another name."""
    harnesses = [form for form, entry in entries("imports").items() if "has" not in entry.facts]
    form = near_name(name, harnesses)
    return form if form and (task is None or letters(form) == letters(name)) else None


def with_added_scorers(workload: Workload, name: str | None = None) -> Workload:
    """A benchmark with the scorers of plug-ins; unusable scorers are left out."""
    added = [entry for entry in _added(name or workload.name) if not isinstance(entry, PluginError)]
    taken = {scorer.name for scorer in workload.scorers}
    further = tuple(scorer for scorer in added if scorer.name not in taken)
    return replace(workload, scorers=(*workload.scorers, *further)) if further else workload


def package_of(name: str) -> str:
    """The package and version of a benchmark from another package; empty for a built-in benchmark."""
    entry = entries("benchmarks").get(name)
    return "" if entry is None else entry.origin


def problems() -> list[PluginError]:
    """The faults of other packages' benchmarks and scorers, which are all loaded for this check."""
    errors = [
        PluginError(f"{entry.name}: the benchmark of {entry.origin} is not used: the name is taken")
        for entry in shadowed("benchmarks")
    ]
    for name, entry in entries("benchmarks").items():
        if entry.package is None:
            continue
        try:
            _loaded(name)
        except PluginError as error:
            errors.append(error)
    tasks = {name.partition(".")[0] for name in entries("scorers")}
    errors += [added for task in sorted(tasks) for added in _added(task) if isinstance(added, PluginError)]
    return errors


@cache
def _added(name: str) -> tuple[Scorer | PluginError, ...]:
    """The scorers of plug-ins for a benchmark, and the faults of unusable ones."""
    return tuple(_scorer(scorer, name) for scorer in entries("scorers") if scorer.partition(".")[0] == name)


def _scorer(name: str, task: str) -> Scorer | PluginError:
    entry = entries("scorers")[name]
    try:
        scorer: Scorer = load(entry)
        if f"{task}.{scorer.name}" != name:
            raise unusable(entry, f"its name is {scorer.name!r}")
    except PluginError as error:
        return error
    return scorer
