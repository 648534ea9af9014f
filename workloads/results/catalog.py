"""Every format of results by name, with the module path, imported on use: harnesses and load generators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import TaskError, did_you_mean, letters, near_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.results.attempt import ResultFormat
    from workloads.results.loads.load_results import LoadFormat

FORMATS: Final[Mapping[str, str]] = {
    "deepplanning": "workloads.results.deepplanning:FORMAT",
    "harbor": "workloads.results.harbor:FORMAT",
    "lifelong-agent": "workloads.results.lifelong_agent:FORMAT",
    "pinchbench": "workloads.results.pinchbench:FORMAT",
    "swefficiency": "workloads.results.swefficiency:FORMAT",
    "terminalbench-native": "workloads.results.terminal_bench:FORMAT",
    "webchorearena": "workloads.results.web_chore_arena:FORMAT",
    "workarena": "workloads.results.browser_gym:FORMAT",
}

"""Harnesses, which score answers."""

LOADS: Final[Mapping[str, str]] = {
    "aiperf": "workloads.results.loads.aiperf:FORMAT",
    "guidellm": "workloads.results.loads.guidellm:FORMAT",
    "sglang-bench": "workloads.results.loads.vllm_bench:SGLANG",
    "vllm-bench": "workloads.results.loads.vllm_bench:VLLM",
}
"""Load generators, which measure requests."""


def run_elsewhere(name: str, task: str | None) -> str | None:
    """The harness's format that a benchmark's name means; None for another name.

    Args:
        name: The name, which may be misspelt or have a version at its end.
        task: The task whose name is near, if any: it is meant unless the format's name is the same.
    """
    form = near_name(name, FORMATS)
    return form if form and (task is None or letters(form) == letters(name)) else None


def result_format(name: str) -> ResultFormat:
    """A harness's format by name.

    Raises:
        TaskError: No format has this name.
    """
    chosen: ResultFormat = _loaded(name, FORMATS)
    return chosen


def load_format(name: str) -> LoadFormat:
    """A load generator's format by name.

    Raises:
        TaskError: No format has this name.
    """
    chosen: LoadFormat = _loaded(name, LOADS)
    return chosen


def _loaded(name: str, formats: Mapping[str, str]) -> Any:
    if name not in formats:
        raise TaskError(
            f"{name}: no format of results has this name{did_you_mean(name, (*FORMATS, *LOADS))}; "
            "`loadgen list formats` has them all"
        )
    module, _, attribute = formats[name].partition(":")
    return getattr(import_module(module), attribute)
