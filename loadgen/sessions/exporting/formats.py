"""The formats of `loadgen export`: by the option that names the target, what writes it and what it takes."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
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
        write: Writes it; the target is the option's value.
        takes: The further options that it takes, by their fields.
    """

    target: str
    write: Callable[[ExportSettings, Any], Exported]
    takes: frozenset[str]


def _samples(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.samples import write_samples

    return write_samples(settings, target)


def _perfetto(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.perfetto import write_trace

    return write_trace(settings, target)


def _otlp(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.otlp import send

    return send(settings, target)


def _parquet(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.parquet import write_folder

    return write_folder(settings, target)


def _vllm_json(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.vllm_json import write_result

    return write_result(settings, target)


def _openmetrics(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.openmetrics import write_metrics

    return write_metrics(settings, target)


def _push_gateway(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.openmetrics import push

    return push(settings, target)


def _to(settings: ExportSettings, target: Any) -> Exported:
    from loadgen.sessions.exporting.publishing import publish

    return publish(settings, target)


_TRACKER_TAKES: Final = frozenset(
    {"project", "entity", "group", "tag", "name", "spreadsheet", "worksheet", "credentials"}
)
_OF_REPORT: Final = frozenset({"prices", "scoring_pass", "tokenizer"})

RUN_FORMATS: Final[Mapping[str, ExportFormat]] = {
    "samples": ExportFormat("FILE", _samples, _OF_REPORT | {"texts", "raw"}),
    "perfetto": ExportFormat("FILE", _perfetto, frozenset({"tokenizer"})),
    "parquet": ExportFormat("FOLDER", _parquet, _OF_REPORT | {"texts"}),
    "vllm_json": ExportFormat("FILE", _vllm_json, frozenset({"texts", "tokenizer"})),
    "openmetrics": ExportFormat("FILE", _openmetrics, _OF_REPORT),
    "push_gateway": ExportFormat("URL", _push_gateway, _OF_REPORT | {"job"}),
    "otlp": ExportFormat("URL", _otlp, frozenset({"tokenizer"})),
    "to": ExportFormat("TRACKER", _to, _OF_REPORT | _TRACKER_TAKES),
}
"""The formats of a single run, by the field of the option that names the target."""

MLPERF: Final = "mlperf_endpoints"
_MLPERF_TAKES: Final = frozenset({"ruleset", "accuracy", "audit", "about", "tokenizer"})

_TAKES: Final[Mapping[str, frozenset[str]]] = {
    **{name: form.takes for name, form in RUN_FORMATS.items()},
    MLPERF: _MLPERF_TAKES,
}
_TARGETS: Final = {**{name: form.target for name, form in RUN_FORMATS.items()}, MLPERF: "FOLDER"}
_ALWAYS: Final = frozenset({"run", "force", "json"})
_FLAGS: Final[Mapping[str, str]] = {"texts": "--no-texts", "scoring_pass": "--pass"}
"""How an option is written whose field has another name."""


def chosen(settings: ExportSettings) -> str:
    """The format that is wanted, as the field of its option.

    Raises:
        UsageError: None is, or several are, or an option applies only to another one.
    """
    wanted = [name for name in _TAKES if getattr(settings, name) is not None]
    if not wanted:
        targets = [f"{flag(name)} {target}" for name, target in _TARGETS.items()]
        raise UsageError(f"Nothing to export. Use {', '.join(targets[:-1])} or {targets[-1]}")
    if len(wanted) > 1:
        raise UsageError(f"{flag(wanted[0])} and {flag(wanted[1])}: one format per command; leave one out")
    for field in fields(settings):
        name = field.name
        if name in _TAKES or name in _ALWAYS or name in _TAKES[wanted[0]]:
            continue
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if getattr(settings, name) != default:
            takers = [f"{flag(other)} {_TARGETS[other]}" for other, takes in _TAKES.items() if name in takes]
            raise UsageError(f"{flag(name)} applies only to {' and '.join(takers)}: leave it out")
    return wanted[0]


def write(settings: ExportSettings, name: str) -> Exported:
    """Write a run in a format of `RUN_FORMATS`.

    Raises:
        UsageError: The run is a series, or the target cannot be written.
        SetupError: The target cannot be written.
        LogError: The run cannot be read.
    """
    from loadgen.sessions.series.series import is_series

    if is_series(settings.run):
        raise UsageError(f"{flag(name)}: {settings.run} is a series of runs; export each of its runs")
    return RUN_FORMATS[name].write(settings, getattr(settings, name))


def flag(name: str) -> str:
    """How the option of a field is written."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")
