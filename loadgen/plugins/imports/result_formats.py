"""Formats of results by name: of harnesses, which score answers, and of load generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workloads.errors import TaskError, did_you_mean
from workloads.registry import entries, load, unusable

if TYPE_CHECKING:
    from loadgen.plugins.imports.loads.load_results import LoadFormat
    from loadgen.plugins.imports.results.harness_results import ResultFormat


def format_called(name: str) -> ResultFormat | LoadFormat:
    """The format of a name.

    Raises:
        TaskError: No format has this name.
        PluginError: The format is another package's, and cannot be used.
    """
    formats = entries("imports")
    if name not in formats:
        raise TaskError(
            f"{name}: no format of results has this name{did_you_mean(name, formats)}; "
            "`loadgen list formats` has them all"
        )
    chosen: ResultFormat | LoadFormat = load(formats[name])
    if chosen.name != name:
        raise unusable(formats[name], f"its name is {chosen.name!r}")
    return chosen
