"""What figures a score is told in: those of the catalogue, for a log tells only whose scorer it was.

No SQL of a log is ever run: whoever wrote it would be asking on this machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workloads.catalog import is_task, workload
from workloads.errors import PluginError
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.scorer import Scorer
    from workloads.workload import Workload

_OFFICIAL: Final = "official"
"""What the definition of whoever published a benchmark is called."""

ACCURACY: Final = (Headline("accuracy"),)
"""Of a scorer that names no figures of its own: the mean of its values."""


@dataclass(frozen=True, slots=True)
class Definition:
    """How a scorer's scores are told.

    Attributes:
        headlines: Its figures, the first one first.
        official: Whether it is the benchmark's own; None where there is none, as of own data.
        version: What this program has; None where it has no such scorer.
        note: What a reader of the score should know.
        runs_code: Whether it runs what the model wrote.
    """

    headlines: tuple[Headline, ...] = ACCURACY
    official: bool | None = None
    version: int | None = None
    note: str = ""
    runs_code: bool = False


def defined(name: str, scorer: str | None) -> Definition:
    """What this program knows of a scorer; the mean alone where it is none of a benchmark.

    Args:
        name: The benchmark's.
        scorer: The scorer's; None for the benchmark's own.
    """
    known = _workload(name)
    if known is None:
        return Definition()
    found = known.scorers[0] if scorer is None else _scorers(known).get(scorer)
    if found is None:
        return Definition(official=False)
    return Definition(found.headlines, found.name == _OFFICIAL, found.version, found.note, found.runs_code)


def changed_options(name: str, options: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    """The options of a task that are not its defaults: what each was, and what it is by default."""
    known = _workload(name)
    defaults = {} if known is None else known.options
    return {
        key: (said, defaults[key])
        for key, said in options.items()
        if key in defaults and defaults[key] != said
    }


def _workload(name: str) -> Workload | None:
    try:
        return workload(name) if is_task(name) else None
    except PluginError:
        return None  # what the log has can be reported without the package that asked it


def _scorers(known: Workload) -> Mapping[str, Scorer]:
    return {scorer.name: scorer for scorer in known.scorers}
