"""The formats of `loadgen export`, which the manifests of plug-ins declare.

The name of a format is the option that names its target; `names` is the option's value in messages, `takes`
the further options, and `series` whether a series of runs can be written.

The function of a format takes the options and the target. It raises `UsageError` for a target or an option
that cannot be used, `SetupError` for a target that cannot be written, `OptionError` for a scoring pass or a
price that does not exist, and `LogError` for a run that cannot be read.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from workloads.registry import Entry, entries, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.plugins.exports.exported import Exported
    from loadgen.sessions.settings.export import ExportSettings


_ALWAYS: Final = frozenset({"run", "force", "json"})
_FLAGS: Final[Mapping[str, str]] = {"texts": "--no-texts", "scoring_pass": "--pass"}
"""How an option is written whose field has another name."""


def chosen(settings: ExportSettings) -> str:
    """The chosen format, as the field of the format's option; raise `UsageError` unless it is one."""
    formats = entries("exports")
    wanted = [name for name in formats if getattr(settings, name) is not None]
    if not wanted:
        targets = [_typed(entry) for entry in formats.values()]
        raise UsageError(f"Nothing to export. Use {', '.join(targets[:-1])} or {targets[-1]}")
    if len(wanted) > 1:
        raise UsageError(f"{flag(wanted[0])} and {flag(wanted[1])}: one format per command; leave one out")
    for field in fields(settings):
        name = field.name
        if name in formats or name in _ALWAYS or name in formats[wanted[0]].facts["takes"]:
            continue
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if getattr(settings, name) != default:
            takers = [_typed(entry) for entry in formats.values() if name in entry.facts["takes"]]
            raise UsageError(f"{flag(name)} applies only to {' and '.join(takers)}: leave it out")
    return wanted[0]


def write(settings: ExportSettings, name: str) -> Exported:
    """Write a run in a format; a series of runs only where the format takes a series."""
    from loadgen.sessions.files.series_file import is_series

    entry = entries("exports")[name]
    if is_series(settings.run) and not entry.facts.get("series"):
        raise UsageError(f"{flag(name)}: {settings.run} is a series of runs; export each of its runs")
    writes: Callable[[ExportSettings, Any], Exported] = load(entry)
    return writes(settings, getattr(settings, name))


def _typed(entry: Entry) -> str:
    return f"{flag(entry.name)} {entry.facts['names']}"


def flag(name: str) -> str:
    """How the option of a field is written."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")
