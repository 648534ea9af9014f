"""The models, benchmarks and loads of a suite, each by its name, and what the filters leave of them."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cli.errors import UsageError, printable
from cli.suite.files import placed
from cli.suite.merging import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cli.suite.document import Options, Suite
    from cli.suite.source import Source

DEFAULT: Final = "default"
"""The name of the one benchmark, or load, of a suite that has none."""

_KINDS: Final = ("concurrency", "rate", "stages", "trace")
"""The options that choose a kind of load: the name of a load without one is made of them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A model, a benchmark or a load.

    Attributes:
        name: Unique among its kind.
        layer: What its table says.
    """

    name: str
    layer: Layer


def layer_of(source: Source, kind: str, said: Mapping[str, Any], number: int | None = None) -> Layer:
    """What a table says, with the files that it names as they are found from the suite's folder."""
    return Layer(source.table(kind, number), placed(said, source.path.parent))


def models_of(source: Source, suite: Suite) -> list[Row]:
    """The models, in the file's order.

    Raises:
        UsageError: Two have one name.
    """
    said = [(one.name, {**one.said(), "model": one.model or one.name}) for one in suite.models]
    return _rows(source, "models", said)


def benchmarks_of(source: Source, suite: Suite) -> list[Row]:
    """The benchmarks, in the file's order; one that says nothing where there is none.

    Raises:
        UsageError: Two have one name.
    """
    return _rows(source, "benchmarks", [(one.name, one.said()) for one in suite.benchmarks])


def loads_of(source: Source, suite: Suite) -> list[Row]:
    """The loads, likewise; one without a name is called by what it does.

    Raises:
        UsageError: Two have one name.
    """
    return _rows(source, "loads", [(one.name or _made_up(one), one.said()) for one in suite.loads])


def filtered(source: Source, kind: str, rows: Sequence[Row], globs: Sequence[str]) -> list[Row]:
    """Those rows that match one of the globs; all of them where there is no glob.

    Raises:
        UsageError: A glob matches none.
    """
    for glob in globs:
        if not any(fnmatchcase(row.name, glob) for row in rows):
            names = ", ".join(row.name for row in rows)
            raise UsageError(
                f"--{kind.removesuffix('s')}-filter {glob!r} matches none of the {kind} of {source.path}: "
                f"{printable(names)}"
            )
    return [row for row in rows if not globs or any(fnmatchcase(row.name, glob) for glob in globs)]


def _rows(source: Source, kind: str, said: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Row]:
    rows = [Row(name, layer_of(source, kind, values, number)) for number, (name, values) in enumerate(said)]
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        if row.name in seen:
            raise source.error(
                (kind, number), f"the name {row.name!r} is that of {source.table(kind, seen[row.name])} too"
            )
        seen[row.name] = number
    return rows or [Row(DEFAULT, Layer(source.table(kind), {}))]


def _made_up(load: Options) -> str:
    said = load.said()
    if said.get("offline"):
        return "offline"
    kind = next((name for name in _KINDS if name in said), None)
    if kind is None:
        return DEFAULT
    return f"{kind}-{said[kind].stem if isinstance(said[kind], Path) else said[kind]}"
