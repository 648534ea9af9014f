"""Every format of results by name, with the module path, imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from workloads.errors import TaskError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.results.attempt import ResultFormat

FORMATS: Final[Mapping[str, str]] = {
    "harbor": "workloads.results.harbor:FORMAT",
    "lifelong-agent": "workloads.results.lifelong_agent:FORMAT",
    "pinchbench": "workloads.results.pinchbench:FORMAT",
    "swefficiency": "workloads.results.swefficiency:FORMAT",
    "terminalbench-native": "workloads.results.terminal_bench:FORMAT",
    "webchorearena": "workloads.results.web_chore_arena:FORMAT",
    "workarena": "workloads.results.browser_gym:FORMAT",
}


def result_format(name: str) -> ResultFormat:
    """A format by name.

    Raises:
        TaskError: No format has this name.
    """
    if name not in FORMATS:
        raise TaskError(
            f"{name}: no format of results has this name{did_you_mean(name, FORMATS)}; "
            "`loadgen list formats` has them all"
        )
    module, _, attribute = FORMATS[name].partition(":")
    chosen: ResultFormat = getattr(import_module(module), attribute)
    return chosen
