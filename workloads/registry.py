"""The registry of plug-ins: what each adds, by kind and name, imported on use.

A plug-in of this program is a folder of `loadgen/plugins` with a manifest `plugin.toml`: a title, what it
needs, and a table per kind with `name = "module:attribute"`. A plug-in of another package has the same names
as entry points of the groups `llm_loadgen.<kind>`. An entry that cannot be used harms nothing but itself. Of
equal names, those of this program go first.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from workloads.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import Distribution


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values that plug-ins add."""

    noun: str
    types: tuple[str, ...] = ()  #: the places of the classes that a value may have; none for anything
    table: str = ""  #: the place of the table with this program's own values, if not in a manifest
    is_open: bool = True


_FUNCTION: Final = ("collections.abc:Callable",)
_FORMATS: Final = "loadgen.sessions.formats:FORMATS"
_RESULTS: Final = "loadgen.plugins.imports.results.harness_results:ResultFormat"
_LOADS: Final = "loadgen.plugins.imports.loads.load_results:LoadFormat"

KINDS: Final[Mapping[str, Kind]] = {
    "commands": Kind("command", _FUNCTION, "loadgen.cli.command_table:COMMANDS"),
    "benchmarks": Kind("benchmark", ("workloads.workload:Workload",)),
    "scorers": Kind("scorer", ("workloads.scorer:Scorer",)),
    "protocols": Kind("protocol", table="loadgen.driver.client.protocols:PROTOCOLS"),
    "arrivals": Kind(
        "arrival process", ("workloads.arrivals:ArrivalProcess",), "workloads.arrivals:ARRIVAL_PROCESSES"
    ),
    "reports": Kind("report format", _FUNCTION, _FORMATS),
    "verdicts": Kind("verdict format", _FUNCTION, _FORMATS),
    "comparisons": Kind("comparison format", _FUNCTION, _FORMATS),
    "exports": Kind("export format", is_open=False),
    "trackers": Kind("tracker", _FUNCTION),
    "imports": Kind("import format", (_RESULTS, _LOADS)),
    "series": Kind("series"),
    "traces": Kind("trace format", ("loadgen.plugins.agentic.readers.trace_format:TraceFormat",)),
    "sections": Kind("report section", is_open=False),
    "checks": Kind("check", _FUNCTION),
    "services": Kind("service"),
}
"""The kinds of entries that a plug-in can add. Scorers are named `TASK.NAME`, and `own.NAME` for own data."""

_GROUP: Final = "llm_loadgen"
_MANIFESTS: Final = Path(__file__).parents[1] / "loadgen" / "plugins"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name that a plug-in adds."""

    kind: str
    name: str
    target: str  #: the place of the value, `module:attribute`
    #: What the manifest says about the value, without an import.
    facts: Mapping[str, Any] = field(default_factory=dict)
    package: Distribution | None = None  #: the package that it comes from; None for this program

    @property
    def origin(self) -> str:
        """The package with version, as in `capitals 1.2`; empty for this program."""
        return "" if self.package is None else f"{self.package.name} {self.package.version}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plug-in: a folder of this program, or another package."""

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


@cache
def added(kind: str) -> Mapping[str, Entry]:
    """The entries of a kind from other packages, by name, without those whose name is taken."""
    taken = at(KINDS[kind].table) if KINDS[kind].table else ()
    others = {name: entry for name, entry in entries(kind).items() if entry.package is not None}
    return {name: entry for name, entry in others.items() if name not in taken}


def shadowed(kind: str) -> list[Entry]:
    """The entries of other packages that are not used, because this program has the name."""
    return [entry for name, entry in added_by_packages(kind).items() if name not in added(kind)]


def load(entry: Entry) -> Any:
    """The value of an entry, imported now; raise `PluginError`, which names the package."""
    if entry.package is None:
        return at(entry.target)
    try:
        value = at(entry.target)
    except (Exception, SystemExit) as error:
        raise unusable(entry, f"{entry.target} cannot be imported: {_described(error)}") from error
    types = tuple(at(place) for place in KINDS[entry.kind].types)
    if types and not isinstance(value, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise unusable(entry, f"{entry.target} is {type(value).__name__}, where a {names} must be")
    return value


def service(name: str) -> Any:
    """The function of a plug-in that sessions call by this name."""
    return load(entries("services")[name])


def unusable(entry: Entry, why: str) -> PluginError:
    """The error of an entry of another package that cannot be used."""
    return PluginError(
        f"{entry.name}: the {KINDS[entry.kind].noun} of {entry.origin} cannot be used: {why}; "
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
    if not KINDS[kind].is_open:
        return by_name
    for point in entry_points(group=f"{_GROUP}.{kind}"):
        by_name.setdefault(point.name, Entry(kind, point.name, point.value, package=point.dist))
    return by_name


def _described(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def at(place: str) -> Any:
    """The value at a place, `module:attribute` or `module`, imported here."""
    module, _, attributes = place.partition(":")
    value: Any = import_module(module)
    for attribute in filter(None, attributes.split(".")):
        value = getattr(value, attribute)
    return value
