"""Plug-ins of other packages: benchmarks, scorers and protocols, declared by entry points.

An entry point of the group `llm_loadgen.benchmarks` is a `Workload` of that name; of `llm_loadgen.scorers`, a
`Scorer`, under the name `TASK.NAME` (`own.NAME` for own data); of `llm_loadgen.protocols`, a codec
(`loadgen.driver.client.codec.Codec`). Only their names are read until one is used, and one that cannot be
used harms nothing but itself. What comes with this program goes before all of them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from workloads.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

Kind = Literal["benchmarks", "scorers", "protocols"]

KINDS: Final[tuple[Kind, ...]] = ("benchmarks", "scorers", "protocols")
_GROUP: Final = "llm_loadgen"


@cache
def plugins(kind: Kind) -> Mapping[str, EntryPoint]:
    """The entry points of a kind by name, not loaded; of several with one name, the first."""
    # Not needed by a worker of a built-in protocol, and slow to import.
    from importlib.metadata import entry_points

    by_name: dict[str, EntryPoint] = {}
    for entry_point in entry_points(group=f"{_GROUP}.{kind}"):
        by_name.setdefault(entry_point.name, entry_point)
    return by_name


def origin(plugin: EntryPoint) -> str:
    """The package of an entry point, with version: `capitals 1.2`."""
    package = plugin.dist
    return "an unknown package" if package is None else f"{package.name} {package.version}"


def loaded(kind: Kind, name: str, expected: type | None = None) -> Any:
    """The object of an entry point, imported now.

    Args:
        kind: Of the entry point.
        name: One of `plugins(kind)`.
        expected: What it must be an instance of; None for anything.

    Raises:
        PluginError: It cannot be imported, or is something else; the message names the package.
    """
    plugin = plugins(kind)[name]
    try:
        value = plugin.load()
    except (Exception, SystemExit) as error:
        raise _unusable(kind, name, f"{plugin.value} cannot be imported: {_described(error)}") from error
    if expected is not None and not isinstance(value, expected):
        raise _unusable(
            kind, name, f"{plugin.value} is {type(value).__name__}, where a {expected.__name__} must be"
        )
    return value


def _unusable(kind: Kind, name: str, why: str) -> PluginError:
    package = origin(plugins(kind)[name])
    return PluginError(
        f"{name}: the {kind.removesuffix('s')} of {package} cannot be used: {why}; update or remove "
        "the package"
    )


def _described(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
