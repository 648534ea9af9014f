"""The formats of `loadgen export`: by target option, with the writer and the used options."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.sessions.exporting.exported import Exported
    from loadgen.sessions.settings.export import ExportSettings


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One format.

    Attributes:
        target: What the option names, as in its help.
        write: What writes it, as `module:function`; it takes the settings and the value of the option.
        takes: The further options that it takes, by their fields.
    """

    target: str
    write: str
    takes: frozenset[str]


_TRACKER_OPTIONS: Final = frozenset(
    {"project", "entity", "group", "tag", "name", "spreadsheet", "worksheet", "credentials"}
)
_OF_REPORT: Final = frozenset({"prices", "scoring_pass", "tokenizer"})

RUN_FORMATS: Final[Mapping[str, ExportFormat]] = {
    "samples": ExportFormat("FILE", "samples:write_samples", _OF_REPORT | {"texts", "raw"}),
    "episodes": ExportFormat("FILE", "samples:write_episodes", _OF_REPORT | {"texts", "raw"}),
    "perfetto": ExportFormat("FILE", "perfetto:write_trace", frozenset({"tokenizer"})),
    "parquet": ExportFormat("FOLDER", "parquet:write_folder", _OF_REPORT | {"texts"}),
    "vllm_json": ExportFormat("FILE", "vllm_json:write_result", frozenset({"texts", "tokenizer"})),
    "openmetrics": ExportFormat("FILE", "openmetrics:write_metrics", _OF_REPORT),
    "push_gateway": ExportFormat("URL", "openmetrics:push", _OF_REPORT | {"job"}),
    "otlp": ExportFormat("URL", "otlp:send", frozenset({"tokenizer"})),
    "to": ExportFormat("TRACKER", "publishing:publish", _OF_REPORT | _TRACKER_OPTIONS),
}
"""The formats of a single run, by the field of the option that names the target."""

MLPERF: Final = "mlperf_endpoints"
_MLPERF_OPTIONS: Final = frozenset({"ruleset", "accuracy", "audit", "about", "tokenizer"})

_OPTIONS_OF: Final[Mapping[str, frozenset[str]]] = {
    **{name: form.takes for name, form in RUN_FORMATS.items()},
    MLPERF: _MLPERF_OPTIONS,
}
_TARGETS: Final = {**{name: form.target for name, form in RUN_FORMATS.items()}, MLPERF: "FOLDER"}
_ALWAYS: Final = frozenset({"run", "force", "json"})
_FLAGS: Final[Mapping[str, str]] = {"texts": "--no-texts", "scoring_pass": "--pass"}
"""How an option is written whose field has another name."""


def chosen(settings: ExportSettings) -> str:
    """The chosen format, as the field of the format's option.

    Raises:
        UsageError: None is, or several are, or an option applies only to another one.
    """
    wanted = [name for name in _OPTIONS_OF if getattr(settings, name) is not None]
    if not wanted:
        targets = [f"{flag(name)} {target}" for name, target in _TARGETS.items()]
        raise UsageError(f"Nothing to export. Use {', '.join(targets[:-1])} or {targets[-1]}")
    if len(wanted) > 1:
        raise UsageError(f"{flag(wanted[0])} and {flag(wanted[1])}: one format per command; leave one out")
    for field in fields(settings):
        name = field.name
        if name in _OPTIONS_OF or name in _ALWAYS or name in _OPTIONS_OF[wanted[0]]:
            continue
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if getattr(settings, name) != default:
            takers = [
                f"{flag(other)} {_TARGETS[other]}" for other, takes in _OPTIONS_OF.items() if name in takes
            ]
            raise UsageError(f"{flag(name)} applies only to {' and '.join(takers)}: leave it out")
    return wanted[0]


def write(settings: ExportSettings, name: str) -> Exported:
    """Write a run in a format of `RUN_FORMATS`.

    Raises:
        UsageError: The run is a series, or the target cannot be written.
        SetupError: The target cannot be written.
        LogError: The run cannot be read.
    """
    from loadgen.sessions.files.series_file import is_series

    if is_series(settings.run):
        raise UsageError(f"{flag(name)}: {settings.run} is a series of runs; export each of its runs")
    module, _, function = RUN_FORMATS[name].write.partition(":")
    writes: Callable[[ExportSettings, Any], Exported] = getattr(
        import_module(f"loadgen.sessions.exporting.{module}"), function
    )
    return writes(settings, getattr(settings, name))


def flag(name: str) -> str:
    """How the option of a field is written."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")
