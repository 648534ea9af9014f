"""The registry of plug-ins: what each adds, by kind and name, imported on use.

A plug-in of this program is a folder of `loadgen/plugins` with a manifest `plugin.toml`: a title, what it
needs, and a table per kind with `name = "module:attribute"`. A plug-in of another package has the same names
as entry points of the groups `llm_loadgen.<kind>`. An entry that cannot be used harms nothing but itself. Of
equal names, those of this program go first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import Distribution

KINDS: Final[Mapping[str, str]] = {
    "commands": "commands of `loadgen`",
    "benchmarks": "benchmarks of `loadgen accuracy`",
    "scorers": "scorers, each `TASK.NAME`; `own.NAME` for own data",
    "protocols": "protocols of `--protocol`",
    "exports": "formats of `loadgen export`",
    "trackers": "experiment trackers of `loadgen export --to`",
    "imports": "formats of `loadgen import`",
    "series": "series of runs, which `loadgen report` and `loadgen resume` read",
    "services": "functions that sessions call",
}
"""What a plug-in can add."""

_GROUP: Final = "llm_loadgen"
_MANIFESTS: Final = Path(__file__).parents[1] / "loadgen" / "plugins"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name that a plug-in adds.

    Attributes:
        kind: One of `KINDS`.
        name: The name that users write.
        target: The place of the value, `module:attribute`.
        facts: What the manifest says about the value, without an import.
        package: The package that it comes from; None for this program.
    """

    kind: str
    name: str
    target: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    package: Distribution | None = None

    @property
    def origin(self) -> str:
        """The package with version, as in `capitals 1.2`; empty for this program."""
        return "" if self.package is None else f"{self.package.name} {self.package.version}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in: a folder of this program, or another package.

    Attributes:
        name: The folder's name, or the package with version.
        title: What it is for.
        needs: The other plug-ins that it imports.
        extras: The extras of this program that some of it needs.
        entries: What it adds.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    extras: tuple[str, ...]
    entries: tuple[Entry, ...]


@cache
def manifests() -> tuple[Plugin, ...]:
    """The plug-ins of this program, by name."""
    import tomllib

    return tuple(
        _plugin(path.parent.name, tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(_MANIFESTS.glob("*/plugin.toml"))
    )


@cache
def entries(kind: str) -> Mapping[str, Entry]:
    """The entries of a kind by name: those of this program's plug-ins, then those of other packages."""
    own = {entry.name: entry for plugin in manifests() for entry in plugin.entries if entry.kind == kind}
    return own | {name: entry for name, entry in added_by_packages(kind).items() if name not in own}


def shadowed(kind: str) -> list[Entry]:
    """The entries of other packages that are not used, because this program has the name."""
    return [entry for name, entry in added_by_packages(kind).items() if entries(kind)[name] is not entry]


def load(entry: Entry, expected: type | None = None) -> Any:
    """The value of an entry, imported now.

    Args:
        entry: One of `entries(kind)`.
        expected: What the value must be an instance of; None for anything.

    Raises:
        PluginError: The value of another package cannot be imported, or is something else; the message names
            the package.
    """
    if entry.package is None:
        return at(entry.target)
    try:
        value = at(entry.target)
    except (Exception, SystemExit) as error:
        raise unusable(entry, f"{entry.target} cannot be imported: {_described(error)}") from error
    if expected is not None and not isinstance(value, expected):
        raise unusable(
            entry, f"{entry.target} is {type(value).__name__}, where a {expected.__name__} must be"
        )
    return value


def at(place: str) -> Any:
    """The value at a place, `module:attribute` or `module`, imported now."""
    module, _, attributes = place.partition(":")
    value: Any = import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value


def service(name: str) -> Any:
    """The function of a plug-in that sessions call by this name."""
    return load(entries("services")[name])


def unusable(entry: Entry, why: str) -> PluginError:
    """The error of an entry of another package that cannot be used."""
    return PluginError(
        f"{entry.name}: the {entry.kind.removesuffix('s')} of {entry.origin} cannot be used: {why}; "
        "update or remove the package"
    )


def _plugin(name: str, manifest: Mapping[str, Any]) -> Plugin:
    return Plugin(
        name,
        manifest["title"],
        tuple(manifest.get("needs", ())),
        tuple(manifest.get("extras", ())),
        tuple(
            _entry(kind, entry, value) for kind in KINDS for entry, value in manifest.get(kind, {}).items()
        ),
    )


def _entry(kind: str, name: str, value: str | Mapping[str, Any]) -> Entry:
    if isinstance(value, str):
        return Entry(kind, name, value)
    return Entry(kind, name, value["target"], {key: value[key] for key in value if key != "target"})


@cache
def added_by_packages(kind: str) -> Mapping[str, Entry]:
    """The entries of a kind that other packages add, by name; of several with one name, the first."""
    # Slow to import, and not needed by a worker of a built-in protocol.
    from importlib.metadata import entry_points

    by_name: dict[str, Entry] = {}
    for point in entry_points(group=f"{_GROUP}.{kind}"):
        by_name.setdefault(point.name, Entry(kind, point.name, point.value, package=point.dist))
    return by_name


def _described(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
