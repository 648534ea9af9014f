"""A sweep, from its settings to its files."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, new_series_folder
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.series.point_options import Secrets, check, point_of
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series.suite.layers import options
from loadgen.sessions.series.sweep.sweep_files import write_sweep
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.file_values import read_value
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import SeriesResult
    from loadgen.sessions.settings.sweep import SweepSettings

MOST_POINTS: Final = 1000
"""The most points of a sweep: more are a mistake."""

_FINE: Final = 12
"""Decimals that a range is computed to, so that 0.1:0.5:0.1 ends at 0.5."""

_NO_AXES: Final = frozenset({"require", "ruleset", "skip", "inconclusive", "on_invalid"})
_TRUTH: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """One option and its values, at least one.

    Attributes:
        option: The option without the dashes: `max-tokens`.
        values: Each as text, and as `PerfSettings` has it.
    """

    option: str
    values: tuple[tuple[str, Any], ...]

    @property
    def field(self) -> str:
        """The name of the option as a field of `PerfSettings`."""
        return self.option.replace("-", "_")


def numbers(option: str, text: str) -> SweepAxis:
    """Read `1,2,4` or `10:50:10`, from the first number to the last in steps."""
    parts = text.split(":")
    if len(parts) > 1:
        return axis(option, _steps(option, text, parts))
    return axis(option, _split(text, ","))


def varied(text: str) -> SweepAxis:
    """Read `max-tokens=64,128`. Where a value has a comma in it, semicolons separate the values."""
    option, equals, values = text.partition("=")
    option = option.strip().removeprefix("--").replace("_", "-")
    if not equals or not option:
        raise UsageError(f"--vary {text!r}: write OPTION=VALUE,VALUE, e.g. max-tokens=64,128")
    return axis(option, _split(values, ";" if ";" in values else ","))


def axis(option: str, texts: Sequence[str]) -> SweepAxis:
    """An axis of values in the form of the command line."""
    name = option.replace("-", "_")
    variable_options = [variable for variable in options() if variable not in _NO_AXES]
    if name not in variable_options:
        raise UsageError(f"--vary {option}: {_why_not(name, variable_options)}")
    if not texts:
        raise UsageError(f"{_flag(option)}: no values given; write them like 1,2,4")
    if twice := sorted({text for text in texts if texts.count(text) > 1}):
        raise UsageError(f"{_flag(option)}: {', '.join(twice)} is there twice; each point is run once")
    return SweepAxis(option, tuple((text, _value(option, text)) for text in texts))


def grid(axes: Sequence[SweepAxis]) -> Iterator[Mapping[str, tuple[str, Any]]]:
    """Every combination of the values, by option; the last axis changes first."""
    if not axes:
        raise UsageError("Nothing to sweep. Use --concurrency 1,2,4, --rate 1:10:1 or --vary OPTION=…")
    names = [axis.option for axis in axes]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{', '.join(twice)} is varied twice: give all of its values at once")
    points = list(product(*(axis.values for axis in axes)))
    if len(points) > MOST_POINTS:
        raise UsageError(f"{len(points)} runs are too many: a sweep has at most {MOST_POINTS}")
    return (dict(zip(names, point, strict=True)) for point in points)


def _value(option: str, text: str) -> Any:
    taken = options()[option.replace("-", "_")]
    try:
        if taken.kind is bool and text.lower() in _TRUTH:
            return _TRUTH[text.lower()]
        return read_value(taken, text)
    except ValueError as error:
        raise UsageError(f"{_flag(option)}: {error}") from error


def _why_not(name: str, variable_options: Collection[str]) -> str:
    if name in fields_of(PerfSettings):
        return "an option that is the same in all runs of a sweep"
    guess = did_you_mean(
        name.replace("_", "-"), [option_name.replace("_", "-") for option_name in variable_options]
    )
    return f"no option of a run that can be varied{guess}"


def _steps(option: str, text: str, parts: Sequence[str]) -> list[str]:
    try:
        first, last, step = map(float, parts)
    except ValueError:
        first, last, step = 0.0, 0.0, 0.0
    if not (step > 0 and first <= last) or (last - first) / step > MOST_POINTS:
        changing = f" (one that changes: --vary '{option}=ramp:1..5,60s;ramp:1..9,60s')"
        raise UsageError(
            f"--{option} {text}: write FIRST:LAST:STEP with a step above 0 and the last not below the first, "
            f"e.g. 10:50:10, for {MOST_POINTS} values at most{changing}"
        )
    count = int((last - first) / step * (1 + 1e-9)) + 1
    return [f"{round(first + step * number, _FINE):.{_FINE}g}" for number in range(count)]


def _split(text: str, by: str) -> list[str]:
    parts = [part.strip() for part in text.split(by)]
    return [part for part in parts if part]


def _flag(option: str) -> str:
    return f"--{option}" if option in {"concurrency", "rate"} else f"--vary {option}"


def points_of(settings: SweepSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, ...]:
    """Every run of a sweep."""
    texts = {"concurrency": settings.concurrency, "rate": settings.rate}
    axes = [numbers(option, text) for option, text in texts.items() if text is not None]
    axes += [varied(text) for text in settings.vary]
    return tuple(_point(values, perf) for values in grid(axes))


def _point(values: Mapping[str, tuple[str, Any]], perf: Mapping[str, Any]) -> SeriesPoint:
    name = "-".join(f"{option}-{text}" for option, (text, _) in values.items())
    options = {option.replace("-", "_"): value for option, (_, value) in values.items()}
    axes = {option: _number(text) for option, (text, _) in values.items()}
    return point_of(name, axes, perf_settings(**{**perf, **options}))


def _number(text: str) -> float | str:
    """A number where it is one, so that tables sort and programs compute."""
    if text.isdecimal():
        return int(text)
    return float(text) if text.replace(".", "", 1).isdecimal() else text


def new_sweep(settings: SweepSettings, perf: Mapping[str, Any]) -> tuple[Path, Series, Secrets]:
    """Plan a sweep.

    Returns:
        Its folder, which is made, its points, and the secrets of its runs.
    """
    secrets = Secrets(perf["api_key"], tuple(perf["header"]), perf["judge_api_key"])
    points = points_of(settings, perf)
    require_plot(wanted=settings.plot)
    folder = new_series_folder(settings.out, "sweep")
    series = Series(SeriesKind.SWEEP, {"plot": settings.plot}, points, settings.cooldown)
    return folder, series, secrets


def run_sweep(folder: Path, series: Series, secrets: Secrets, observer: Observer = SILENT) -> SeriesResult:
    """Run the points of a sweep that have not been run to their end, and write its files."""
    require_plot(wanted=series.definition["plot"])
    check(series.points, lambda _: secrets)
    ended = run_series(folder, series, lambda _: secrets, observer=observer)
    if not ended.interrupted:
        write_sweep(folder, ended.outcomes, plot=series.definition["plot"])
    return ended


def require_plot(*, wanted: bool) -> None:
    """Make sure that there is what plots are drawn with."""
    if wanted and find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'llm-loadgen[plot]'")
