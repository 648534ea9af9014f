"""The options of a point: to and from `series.json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field
from loadgen.sessions.error_exit_codes import exit_code
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import SeriesPoint
from loadgen.sessions.gating.reference import placed
from loadgen.sessions.run.benchmark_questions import placed_task
from loadgen.sessions.run.preparation import Prepared, prepare
from loadgen.sessions.run.protocol_options import headers_of
from loadgen.sessions.settings.concerns import fields_of, flat_values
from loadgen.sessions.settings.perf import PerfSettings, settings_from_stored, stored_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from loadgen.sessions.settings.endpoint_options import EndpointSettings


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets that every run needs and no file of a series has."""

    api_key: str | None = field(default=None, repr=False)
    header: tuple[str, ...] = field(default=(), repr=False)
    judge_api_key: str | None = field(default=None, repr=False)


def point_of(name: str, axes: Mapping[str, Any], settings: PerfSettings) -> SeriesPoint:
    """A point with the options of settings, without secrets and output folder.

    The names of files are made absolute: a series can be resumed from any folder.
    """
    if settings.output.output is not None:
        raise UsageError(
            "--output names a file for one run, and a series has several: use --sample-results jsonl"
        )
    files: dict[str, Any] = {
        name: str(value.absolute())
        for name, value in flat_values(settings).items()
        if isinstance(value, Path)
    }
    if settings.tasks.task:
        files["task"] = [placed_task(task, Path.cwd()) for task in settings.tasks.task]
    if settings.prompts.prompts is not None and Path(settings.prompts.prompts).exists():
        files["prompts"] = str(Path(settings.prompts.prompts).absolute())
    ruleset = None if settings.verdict.ruleset is None else placed(settings.verdict.ruleset, Path.cwd())
    rules = {
        "require": list(settings.verdict.require),
        "ruleset": ruleset,
        "scenario": settings.verdict.scenario,
        "skip": list(settings.verdict.skip),
    }
    options = {**stored_options(settings), "url": settings.endpoint.url, **rules, **files}
    options.pop("out", None)
    return SeriesPoint(name, dict(axes), options, _headers(settings.endpoint))


def settings_of(
    point: SeriesPoint, secrets: Secrets, *, out: Path | None = None, quiet: bool = True
) -> PerfSettings:
    """The settings of `loadgen perf` for a point."""
    more = {
        "api_key": secrets.api_key,
        "header": list(secrets.header),
        "judge_api_key": secrets.judge_api_key,
        "out": out,
        "quiet": quiet,
        "json": False,
    }
    settings = settings_from_stored(_with_paths(point.options), **more)
    _require_headers(point, settings.endpoint)
    return settings


def settings_to_read(point: SeriesPoint) -> PerfSettings:
    """The settings of a point for reading the run: without secrets, and so without headers."""
    return settings_from_stored(_with_paths(point.options), quiet=True, json=False)


def check(points: Iterable[SeriesPoint], secrets: Callable[[SeriesPoint], Secrets]) -> None:
    """Prepare every point and send nothing."""
    for point in points:
        try:
            prepared(point, secrets(point))
        except Exception as error:
            if exit_code(error) is None:
                raise
            raise UsageError(f"{point.name}: {error}") from error


def prepared(point: SeriesPoint, secrets: Secrets) -> Prepared:
    """A point, ready to start."""
    return prepare(settings_of(point, secrets))


def _require_headers(point: SeriesPoint, endpoint: EndpointSettings) -> None:
    had, has = set(point.headers), set(_headers(endpoint))
    if missing := sorted(had - has):
        raise UsageError(
            f"{point.name} sends the header {', '.join(missing)}, whose value no file has; give the "
            "header again, with --header 'NAME: VALUE', or --api-key or LOADGEN_API_KEY for the key"
        )
    if further := sorted(has - had):
        raise UsageError(
            f"{point.name} does not send the header {', '.join(further)}: leave it out (a key may come from "
            "the environment: LOADGEN_API_KEY, OPENAI_API_KEY)"
        )


def _headers(endpoint: EndpointSettings) -> tuple[str, ...]:
    return tuple(sorted(name.lower() for name in headers_of(endpoint)))


def _with_paths(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the names of files as paths, which JSON does not have."""
    paths = {
        name
        for name, setting in fields_of(PerfSettings).items()
        if setting.kind is Path and not setting.is_list
    }
    return {
        name: Path(value) if isinstance(value, str) and name in paths else value
        for name, value in options.items()
    }
