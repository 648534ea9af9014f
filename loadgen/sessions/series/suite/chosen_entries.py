"""The models, benchmarks and loads of a suite by name, after filters."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.series.suite.layers import SuiteLayer, placed
from workloads.catalog import canonical, is_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.series.suite.source_lines import SuiteSource
    from loadgen.sessions.series.suite.suite_model import Options, Suite

DEFAULT: Final = "default"
"""The name of the one benchmark, or load, of a suite that has none."""

_KINDS: Final = ("concurrency", "rate", "stages", "trace")
"""The options that choose a kind of load: a load without a name gets one made of them."""

QUESTIONS: Final = (
    *("prompts", "trace", "input_tokens", "output_tokens", "turns", "shared_prefix", "cache_hit", "corpus"),
    "tokenizer",
)
"""The options that choose prompts, except `task`."""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A model, a benchmark or a load."""

    name: str
    layer: SuiteLayer


def layer_of(
    source: SuiteSource, kind: str, values: Mapping[str, Any], number: int | None = None
) -> SuiteLayer:
    """The options of a table, with files relative to the suite's folder."""
    return SuiteLayer(source.table(kind, number), placed(values, source.path.parent))


def models_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The models, in the file's order."""
    named_options = [
        (model.name, {**model.values(), "model": model.model or model.name}) for model in suite.models
    ]
    return _rows(source, "models", named_options)


def benchmarks_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The benchmarks, in the file's order; one without options where there is none.

    A table with the name of a task runs that task.
    """
    named_options = []
    for number, benchmark in enumerate(suite.benchmarks):
        values: Mapping[str, Any] = benchmark.values()
        if is_task(benchmark.name.partition(":")[0]):
            values = _asking(source, number, benchmark.name, values)
        named_options.append((benchmark.name, values))
    return _rows(source, "benchmarks", named_options)


def _asking(source: SuiteSource, number: int, name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of a table with the name of a task, which it then runs."""
    task = name.partition(":")[0]
    if other := next((key for key in QUESTIONS if values.get(key)), None):
        raise source.error(
            ("benchmarks", number),
            f"{task!r} is the name of a benchmark, and {other} has other prompts: rename the table, or "
            f"leave {other} out",
        )
    tasks = values.get("task")
    if tasks and canonical(task) not in {task_name.partition(":")[0] for task_name in tasks}:
        raise source.error(
            ("benchmarks", number),
            f"{task!r} is the name of a benchmark, and task is {', '.join(tasks)}: rename the table, or "
            "leave task out",
        )
    return values if tasks else {"task": [canonical(name)], **values}


def loads_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The loads that are chosen; a load without a name is named by the options."""
    return _rows(source, "loads", [(load.name or _made_up(load), load.values()) for load in suite.loads])


def filtered(
    source: SuiteSource, kind: str, rows: Sequence[SuiteRow], globs: Sequence[str]
) -> list[SuiteRow]:
    """Those rows that match one of the patterns; all of them where there is no pattern.

    A pattern is a name, a part of one where no row has it as its name, or a glob.
    """
    matching_names: set[str] = set()
    for pattern in globs:
        matches = _matching(rows, pattern)
        if not matches:
            names = ", ".join(row.name for row in rows)
            raise UsageError(
                f"--{kind.removesuffix('s')}-filter {pattern!r} matches none of the {kind} of {source.path}: "
                f"{printable(names)}"
            )
        matching_names |= matches
    return [row for row in rows if not globs or row.name in matching_names]


def _matching(rows: Sequence[SuiteRow], pattern: str) -> set[str]:
    names = {row.name for row in rows}
    if pattern in names:
        return {pattern}
    if any(character in pattern for character in _WILDCARDS):
        return {name for name in names if fnmatchcase(name, pattern)}
    return {name for name in names if pattern in name}


_WILDCARDS: Final = "*?["


def _rows(
    source: SuiteSource, kind: str, named_options: Iterable[tuple[str, Mapping[str, Any]]]
) -> list[SuiteRow]:
    rows = [
        SuiteRow(name, layer_of(source, kind, values, number))
        for number, (name, values) in enumerate(named_options)
    ]
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row.name in seen:
            raise source.error(
                (kind, number), f"{source.table(kind, seen[row.name])} has the same name, {row.name!r}"
            )
        seen[row.name] = number
    return rows or [SuiteRow(DEFAULT, SuiteLayer(source.table(kind), {}))]


def _made_up(load: Options) -> str:
    options = load.values()
    if options.get("offline"):
        return "offline"
    kind = next((name for name in _KINDS if name in options), None)
    if kind is None:
        return DEFAULT
    return f"{kind}-{options[kind].stem if isinstance(options[kind], Path) else options[kind]}"
