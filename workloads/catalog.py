"""Every benchmark by name, with the module path, imported on use."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from workloads.errors import PluginError, TaskError, near_name, nearest
from workloads.plugins import loaded, origin, plugins
from workloads.results.catalog import run_elsewhere

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.scorer import Scorer
    from workloads.workload import Workload

TASKS: Final[Mapping[str, str]] = {
    "aime": "workloads.tasks.aime:WORKLOAD",
    "ama_bench": "workloads.tasks.ama_bench:WORKLOAD",
    "bfcl": "workloads.tasks.bfcl:WORKLOAD",
    "bfcl_multi_turn": "workloads.tasks.bfcl_multi_turn:WORKLOAD",
    "browser_assistant": "workloads.tasks.browser_assistant:WORKLOAD",
    "coding_assistant": "workloads.tasks.coding_assistant:WORKLOAD",
    "coding_task": "workloads.tasks.coding_task:WORKLOAD",
    "daily_digest": "workloads.tasks.daily_digest:WORKLOAD",
    "deepresearch": "workloads.tasks.deepresearch:WORKLOAD",
    "document_qa": "workloads.tasks.document_qa:WORKLOAD",
    "email_triage": "workloads.tasks.email_triage:WORKLOAD",
    "frames": "workloads.tasks.frames:WORKLOAD",
    "gaia": "workloads.tasks.gaia:WORKLOAD",
    "gpqa": "workloads.tasks.gpqa:WORKLOAD",
    "graphwalks": "workloads.tasks.graphwalks:WORKLOAD",
    "gsm8k": "workloads.tasks.gsm8k:WORKLOAD",
    "hle": "workloads.tasks.hle:WORKLOAD",
    "hle_text_only": "workloads.tasks.hle:TEXT_ONLY",
    "humaneval": "workloads.tasks.humaneval:WORKLOAD",
    "ifbench": "workloads.tasks.ifbench:WORKLOAD",
    "ifeval": "workloads.tasks.ifeval:WORKLOAD",
    "ipw": "workloads.tasks.ipw:WORKLOAD",
    "knowledge_base": "workloads.tasks.knowledge_base:WORKLOAD",
    "livecodebench": "workloads.tasks.livecodebench:WORKLOAD",
    "liveresearchbench": "workloads.tasks.liveresearchbench:WORKLOAD",
    "loghub": "workloads.tasks.loghub:WORKLOAD",
    "longbench_v2": "workloads.tasks.longbench_v2:WORKLOAD",
    "math500": "workloads.tasks.math500:WORKLOAD",
    "mmlu": "workloads.tasks.mmlu:WORKLOAD",
    "mmlu_pro": "workloads.tasks.mmlu_pro:WORKLOAD",
    "morning_brief": "workloads.tasks.morning_brief:WORKLOAD",
    "mrcr": "workloads.tasks.mrcr:WORKLOAD",
    "multi_if": "workloads.tasks.multi_if:WORKLOAD",
    "mt_bench": "workloads.tasks.mt_bench:WORKLOAD",
    "natural_reasoning": "workloads.tasks.natural_reasoning:WORKLOAD",
    "paperarena": "workloads.tasks.paperarena:WORKLOAD",
    "research_mining": "workloads.tasks.research_mining:WORKLOAD",
    "pinchbench": "workloads.tasks.pinchbench:WORKLOAD",
    "security_scanner": "workloads.tasks.security_scanner:WORKLOAD",
    "simpleqa": "workloads.tasks.simpleqa:WORKLOAD",
    "supergpqa": "workloads.tasks.supergpqa:WORKLOAD",
    "swe_bench": "workloads.tasks.swe_bench:WORKLOAD",
    "swe_bench_pro": "workloads.tasks.swe_bench_pro:WORKLOAD",
    "tau2": "workloads.tasks.tau2:WORKLOAD",
    "tau_bench": "workloads.tasks.tau_bench:WORKLOAD",
    "terminal_bench": "workloads.tasks.terminal_bench:WORKLOAD",
    "toolcall15": "workloads.tasks.toolcall15:WORKLOAD",
    "tool_selection": "workloads.tasks.tool_selection:WORKLOAD",
    "wildchat": "workloads.tasks.wildchat:WORKLOAD",
}


ALIASES: Final[Mapping[str, str]] = {
    "aime2025": "aime",
    "doc_qa": "document_qa",
    "gpqa_diamond": "gpqa",
    "liveresearch": "deepresearch",
}
"""Other names of benchmarks that are in use. Case, hyphens, blanks and underscores never matter."""


def names() -> list[str]:
    """The names of all benchmarks: those that come with this program, and those of plug-ins."""
    return [*TASKS, *(name for name in plugins("benchmarks") if name not in TASKS)]


def task_name(name: str) -> str | None:
    """The canonical name of a benchmark in any spelling (`MMLU-Pro`, `math-500`); None for no benchmark."""
    if name in TASKS:
        return name
    return _names().get(_letters(name)) or next(
        (plugin for plugin in plugins("benchmarks") if _letters(plugin) == _letters(name)), None
    )


def is_task(name: str) -> bool:
    """Whether a benchmark has this name, in any spelling."""
    return task_name(name) is not None


def canonical(text: str) -> str:
    """A task in the user's spelling, with the canonical name: `mmlu_pro:shots=0` for `MMLU-Pro:shots=0`.

    What names no benchmark stays as it is.
    """
    name, colon, options = text.partition(":")
    return f"{task_name(name) or name}{colon}{options}"


def _letters(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())


@cache
def _names() -> Mapping[str, str]:
    """Every benchmark by letters and digits of names and aliases."""
    return {_letters(name): ALIASES.get(name, name) for name in (*ALIASES, *TASKS)}


def workload(name: str) -> Workload:
    """A benchmark by name, with the scorers of plug-ins.

    Raises:
        TaskError: No benchmark has this name.
        PluginError: It is a plug-in's, and cannot be used.
    """
    canonical = task_name(name)
    if canonical is None:
        near = nearest(name, names())
        if form := run_elsewhere(name, near_name(name, (*names(), *ALIASES))):
            raise TaskError(
                f"{name!r} is run by another program; import the results: loadgen import {form} RESULTS"
            )
        hint = f" Did you mean {near!r}?" if near else ""
        raise TaskError(f"Unknown task {name!r}.{hint} See `loadgen list tasks`")
    if canonical not in TASKS:
        return with_added_scorers(_of_plugin(canonical))
    module, _, attribute = TASKS[canonical].partition(":")
    loaded_workload: Workload = getattr(import_module(module), attribute)
    return with_added_scorers(loaded_workload)


def _of_plugin(name: str) -> Workload:
    from workloads.workload import Workload

    plugin: Workload = loaded("benchmarks", name, Workload)
    if plugin.name != name or not plugin.scorers:
        package = origin(plugins("benchmarks")[name])
        what = f"the plug-in's name is {plugin.name!r}" if plugin.name != name else "no scorer"
        raise PluginError(f"{name}: the benchmark of {package} cannot be used: {what}")
    return plugin


def with_added_scorers(workload: Workload, name: str | None = None) -> Workload:
    """A benchmark with the scorers of plug-ins; unusable scorers are left out.

    Args:
        workload: The benchmark.
        name: What plug-ins call it; None for its own name.
    """
    added = [entry for entry in _added(name or workload.name) if not isinstance(entry, PluginError)]
    taken = {scorer.name for scorer in workload.scorers}
    further = tuple(scorer for scorer in added if scorer.name not in taken)
    return replace(workload, scorers=(*workload.scorers, *further)) if further else workload


def package_of(name: str) -> str:
    """The package and version of a benchmark from a plug-in; empty for a built-in benchmark."""
    plugin = None if name in TASKS else plugins("benchmarks").get(name)
    return "" if plugin is None else origin(plugin)


def problems() -> list[PluginError]:
    """The faults of plug-ins, which are all loaded for this check."""
    errors: list[PluginError] = []
    for name in plugins("benchmarks"):
        if name in TASKS:
            package = origin(plugins("benchmarks")[name])
            errors.append(PluginError(f"{name}: the benchmark of {package} is not used: the name is taken"))
            continue
        try:
            _of_plugin(name)
        except PluginError as error:
            errors.append(error)
    tasks = {name.partition(".")[0] for name in plugins("scorers")}
    errors += [added for task in sorted(tasks) for added in _added(task) if isinstance(added, PluginError)]
    return errors


@cache
def _added(name: str) -> tuple[Scorer | PluginError, ...]:
    """The scorers of plug-ins for a benchmark, and the faults of unusable ones."""
    return tuple(_scorer(plugin, name) for plugin in plugins("scorers") if plugin.partition(".")[0] == name)


def _scorer(plugin: str, task: str) -> Scorer | PluginError:
    from workloads.scorer import Scorer

    try:
        scorer: Scorer = loaded("scorers", plugin, Scorer)
    except PluginError as error:
        return error
    if f"{task}.{scorer.name}" != plugin:
        package = origin(plugins("scorers")[plugin])
        return PluginError(f"{plugin}: the scorer of {package} cannot be used: its name is {scorer.name!r}")
    return scorer
