"""The figures of a scorer by the catalog: a log has only the scorer's name.

SQL in a log is never run: its author may not be trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.catalog import is_task, workload
from workloads.errors import PluginError
from workloads.registry import entries, load
from workloads.scorer import HARNESS, Headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.scorer import Scorer
    from workloads.workload import Workload

_OFFICIAL: Final = "official"
"""The name of the scorer that the publisher of a benchmark defines."""

ACCURACY: Final = (Headline("accuracy"),)
"""The figure of a scorer that names none: the mean of its values."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The figures and facts of a scorer.

    Attributes:
        headlines: Its figures, the first one first.
        official: Whether it is the benchmark's own; None where there is none, as for the user's data.
        version: This program's version of it; None where it has no such scorer.
        note: What a reader of the score should know.
        runs_code: Whether it runs the model's programs.
    """

    headlines: tuple[Headline, ...] = ACCURACY
    official: bool | None = None
    version: int | None = None
    note: str = ""
    runs_code: bool = False


def defined(name: str, scorer: str | None) -> Definition:
    """The definition of a scorer in this program; the mean alone for an unknown scorer."""
    if scorer == HARNESS and (harness := entries("imports").get(name)):
        try:
            return Definition(load(harness).headlines, official=True)
        except PluginError:
            return Definition()  # what the log has can be reported without the package
    benchmark = _workload(name)
    if benchmark is None:
        return Definition()
    entry = benchmark.scorers[0] if scorer is None else _scorers(benchmark).get(scorer)
    if entry is None:
        return Definition(official=False)
    return Definition(
        entry.headlines,
        entry.name == _OFFICIAL,
        entry.version,
        entry.note,
        entry.runs_code,
    )


def changed_options(name: str, options: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """The changed options of a task: the used and the default value of each."""
    benchmark = _workload(name)
    defaults = {} if benchmark is None else benchmark.options
    return {
        key: (option_value, defaults[key])
        for key, option_value in options.items()
        if key in defaults and defaults[key] != option_value
    }


def _workload(name: str) -> Workload | None:
    try:
        return workload(name) if is_task(name) else None
    except PluginError:
        return None  # what the log has can be reported without the package that asked it


def _scorers(benchmark: Workload) -> Mapping[str, Scorer]:
    return {scorer.name: scorer for scorer in benchmark.scorers}
