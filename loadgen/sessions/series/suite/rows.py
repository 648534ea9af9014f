"""The models, benchmarks and loads of a suite, each by its name, and what the filters leave of them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError, printable
from loadgen.sessions.series.suite.files import placed
from loadgen.sessions.series.suite.merging import SuiteLayer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.series.suite.document import Options, Suite
    from loadgen.sessions.series.suite.source import SuiteSource

DEFAULT: Final = "default"
"""The name of the one benchmark, or load, of a suite that has none."""

_KINDS: Final = ("concurrency", "rate", "stages", "trace")
"""The options that choose a kind of load: the name of a load without one is made of them."""

_QUESTIONS: Final = (
    *("prompts", "trace", "input_tokens", "output_tokens", "turns", "shared_prefix", "corpus", "tokenizer"),
)
"""The options that say what is asked, but for `task`."""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A model, a benchmark or a load.

    Attributes:
        name: Unique among its kind.
        layer: What its table says.
    """

    name: str
    layer: SuiteLayer


def layer_of(
    source: SuiteSource, kind: str, said: Mapping[str, Any], number: int | None = None
) -> SuiteLayer:
    """What a table says, with the files that it names as they are found from the suite's folder."""
    return SuiteLayer(source.table(kind, number), placed(said, source.path.parent))


def models_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The models, in the file's order.

    Raises:
        UsageError: Two have one name.
    """
    said = [(one.name, {**one.said(), "model": one.model or one.name}) for one in suite.models]
    return _rows(source, "models", said)


def benchmarks_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The benchmarks, in the file's order; one that says nothing where there is none.

    A table whose name is that of a task asks that task.

    Raises:
        UsageError: Two have one name, or the name of a task stands above something else.
    """
    from workloads.catalog import is_task

    said = []
    for number, one in enumerate(suite.benchmarks):
        values: Mapping[str, Any] = one.said()
        if is_task(one.name.partition(":")[0]):
            values = _asking(source, number, one.name, values)
        said.append((one.name, values))
    return _rows(source, "benchmarks", said)


def _asking(source: SuiteSource, number: int, name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a table says that is called like a task, which it then asks.

    Raises:
        UsageError: It says that something else is asked.
    """
    from workloads.catalog import canonical

    task = name.partition(":")[0]
    if other := next((key for key in _QUESTIONS if said.get(key)), None):
        raise source.error(
            ("benchmarks", number),
            f"{task!r} is the name of a benchmark, and {other} asks something else: rename the table, or "
            f"leave {other} out",
        )
    tasks = said.get("task")
    if tasks and canonical(task) not in {one.partition(":")[0] for one in tasks}:
        raise source.error(
            ("benchmarks", number),
            f"{task!r} is the name of a benchmark, and task asks {', '.join(tasks)}: rename the table, or "
            "leave task out",
        )
    return said if tasks else {"task": [canonical(name)], **said}


def loads_of(source: SuiteSource, suite: Suite) -> list[SuiteRow]:
    """The loads, likewise; one without a name is called by what it does.

    Raises:
        UsageError: Two have one name.
    """
    return _rows(source, "loads", [(one.name or _made_up(one), one.said()) for one in suite.loads])


def filtered(
    source: SuiteSource, kind: str, rows: Sequence[SuiteRow], globs: Sequence[str]
) -> list[SuiteRow]:
    """Those rows that match one of the patterns; all of them where there is no pattern.

    A pattern is a name, a part of one where no row has it as its name, or a glob.

    Raises:
        UsageError: A pattern matches none.
    """
    kept: set[str] = set()
    for pattern in globs:
        found = _matching(rows, pattern)
        if not found:
            names = ", ".join(row.name for row in rows)
            raise UsageError(
                f"--{kind.removesuffix('s')}-filter {pattern!r} matches none of the {kind} of {source.path}: "
                f"{printable(names)}"
            )
        kept |= found
    return [row for row in rows if not globs or row.name in kept]


def _matching(rows: Sequence[SuiteRow], pattern: str) -> set[str]:
    names = {row.name for row in rows}
    if pattern in names:
        return {pattern}
    if any(character in pattern for character in _WILDCARDS):
        return {name for name in names if fnmatchcase(name, pattern)}
    return {name for name in names if pattern in name}


_WILDCARDS: Final = "*?["


def _rows(source: SuiteSource, kind: str, said: Iterable[tuple[str, Mapping[str, Any]]]) -> list[SuiteRow]:
    rows = [
        SuiteRow(name, layer_of(source, kind, values, number)) for number, (name, values) in enumerate(said)
    ]
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row.name in seen:
            raise source.error(
                (kind, number), f"the name {row.name!r} is that of {source.table(kind, seen[row.name])} too"
            )
        seen[row.name] = number
    return rows or [SuiteRow(DEFAULT, SuiteLayer(source.table(kind), {}))]


def _made_up(load: Options) -> str:
    said = load.said()
    if said.get("offline"):
        return "offline"
    kind = next((name for name in _KINDS if name in said), None)
    if kind is None:
        return DEFAULT
    return f"{kind}-{said[kind].stem if isinstance(said[kind], Path) else said[kind]}"
