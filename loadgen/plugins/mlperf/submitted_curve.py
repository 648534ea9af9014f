"""A series of runs as the points of a submission to MLPerf Endpoints: results/SYSTEM/MODEL/rCONCURRENCY/."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.plugins.mlperf.accuracy_results import accuracy_results, headlines
from loadgen.plugins.mlperf.bundle import Bundle
from loadgen.plugins.mlperf.measuring import ENDPOINTS, basis_of, measuring
from loadgen.plugins.mlperf.missing_files import of_curve, of_point, undisclosed
from loadgen.plugins.mlperf.point_yaml import (
    AGENTIC,
    DEDICATED,
    ELECTED,
    NAMELESS,
    NOT_OFFLINE,
    ExportedPoint,
    described_point,
)
from loadgen.plugins.mlperf.submission_names import RoundModels
from loadgen.plugins.mlperf.submitter_file import read_submitter_file
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.plain_files import as_json, as_yaml
from reporter.values.task_score import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from loadgen.plugins.mlperf.measuring import MeasuredRun
    from loadgen.plugins.mlperf.submitter_file import SubmitterFile
    from loadgen.sessions.settings.export import ExportSettings
    from reporter.tokens import Tokenizer


def bundle_of(settings: ExportSettings, tokenizer: Tokenizer | None) -> Bundle:
    """The points of a series, as the files of a submission.

    Raises:
        LogError: A run cannot be read.
        UsageError: It has no run, or one that is not a point of a curve, or two of the same concurrency.
        RulesetError: The ruleset does not exist.
    """
    from rulesets.loading import read

    about, basis = read_submitter_file(settings.about), basis_of(settings.ruleset or ENDPOINTS, tokenizer)
    official = RoundModels.of(read(settings.ruleset or ENDPOINTS))
    runs = _runs(settings.run)
    scored = _scored(settings.accuracy, list(runs))
    points: dict[str, ExportedPoint] = {}
    for name, place in runs.items():
        with measuring(place, basis) as run:
            point = _point(run, name, about, scored[name])
        point.disclosure["model_name"] = official.name(point.model)
        key = f"{point.model}/{point.folder}"
        if key in points:
            raise UsageError(
                f"{name}: there are two points of {point.disclosure['concurrency']} in flight: export one"
            )
        points[key] = point
    folders = dict.fromkeys(point.folder for point in points.values())
    if unknown := [folder for folder in about.points if folder not in folders]:
        raise UsageError(
            f"--about {about.path}: points.{unknown[0]}: the point does not exist; the curve has "
            f"{', '.join(folders)}"
        )
    for model in dict.fromkeys(point.model for point in points.values()):
        own = [point for point in points.values() if point.model == model]
        _decide(own, about, agentic=official.agentic.get(model, False))
    return Bundle(
        _files(points, about),
        {"ruleset": basis.name, "system": about.system},
        [*basis.unmet, *of_curve(list(points.values()), about, official), *_of_points(points.values())],
        [f"{point.name}: {reason}" for point in points.values() for reason in point.invalid],
    )


def _runs(path: Path) -> Mapping[str, Path]:
    """The folders of a series' runs, by point."""
    from loadgen.sessions.files import series_file as files
    from loadgen.sessions.files.run_folder import folder_of
    from reporter.log.storage_place import has_log

    folder = folder_of(path)
    series = files.read(folder)
    if series.kind is files.SeriesKind.AUDIT:
        raise UsageError(f"{folder} is an audit: name the run that it is about, and the audit with --audit")
    places = {
        point.name: files.folder_of(folder, series, number) for number, point in enumerate(series.points)
    }
    if unrun := [name for name, place in places.items() if not has_log(place)]:
        raise UsageError(f"{folder}: {unrun[0]} has not been run: continue with `loadgen resume {folder}`")
    return places


def _scored(source: Path | None, names: list[str]) -> Mapping[str, Path | None]:
    """Where the scores of each point are."""
    from loadgen.sessions.gating.given_inputs import accuracy_of_points

    sources = accuracy_of_points(source, names)
    if source is not None and all(path == source for path in sources.values()):
        raise UsageError(
            f"--accuracy {source}: a submission has scores by point; give a JSON file "
            f'{{"points": {{"POINT": "RUN or FILE"}}}}'
        )
    return sources


def _point(run: MeasuredRun, name: str, about: SubmitterFile, scored: Path | None) -> ExportedPoint:
    from loadgen.plugins.mlperf.config_yaml import config
    from loadgen.plugins.mlperf.result_summary import result_summary
    from loadgen.sessions.gating.given_inputs import scores_of
    from rulesets.scores import named

    disclosure = described_point(run.log, run.report, run.settings)
    if disclosure["concurrency"] is None:
        raise UsageError(
            f"{name}: a point of a curve is a closed loop or offline, and this is "
            f"{disclosure['runtime_settings']['load_pattern']}: sweep --concurrency"
        )
    files = {
        "config.yaml": as_yaml(config(run.report, run.settings)),
        "result_summary.json": as_json(result_summary(run.log, run.report, run.evidence, run.settings)),
    }
    if scores := headlines(scores_of(scored) or named(plain(run.report.accuracy))):
        dataset = (run.settings.get("dataset") or {}).get("name")
        files["accuracy_results.json"] = as_json(accuracy_results(scores, dataset))
    if about.system_desc:
        files["system_desc.json"] = as_json(about.system_desc)
    return ExportedPoint(
        name,
        about.with_common(disclosure),
        files,
        list(of_point(run)),
        (*run.report.validity.reasons, *run.report.validity.latency_reasons),
    )


def _decide(points: list[ExportedPoint], about: SubmitterFile, *, agentic: bool) -> None:
    """Set the fields that depend on the whole curve: load pattern, and the Offline point.

    Without an Offline run the point at C_max is elected for it, except in an agentic benchmark, which has
    none (endpoints_rules.md §5.7).
    """
    online = [point.disclosure for point in points if point.disclosure["offline"] != DEDICATED]
    c_max = about.c_max or max((disclosure["concurrency"] for disclosure in online), default=None)
    elects = len(online) == len(points)
    for point in points:
        disclosure = point.disclosure
        if disclosure["offline"] == NOT_OFFLINE:
            if agentic:
                disclosure["runtime_settings"]["load_pattern"] = AGENTIC
            elif elects and disclosure["concurrency"] == c_max:
                disclosure["offline"] = ELECTED
        disclosure.update(about.with_own(point.folder, disclosure))


def _files(points: Mapping[str, ExportedPoint], about: SubmitterFile) -> dict[str, bytes]:
    system = f"results/{about.system or NAMELESS}"
    files = {} if not about.system_power else {f"{system}/system_power.json": as_json(about.system_power)}
    for place, point in points.items():
        files[f"{system}/{place}/point.yaml"] = as_yaml(point.disclosure)
        files |= {f"{system}/{place}/{name}": content for name, content in point.files.items()}
    return files


def _of_points(points: Iterable[ExportedPoint]) -> list[str]:
    return [
        f"{point.folder}: {lack}"
        for point in points
        for lack in (*undisclosed(point.disclosure), *point.missing)
    ]
