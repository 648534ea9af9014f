"""A series of runs as the points of a submission to MLPerf Endpoints: results/SYSTEM/MODEL/rCONCURRENCY/."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cli.errors import UsageError
from cli.exporting.bundle import Bundle
from cli.exporting.disclosed import disclosed
from cli.exporting.measuring import ENDPOINTS, basis_of, counted_otherwise, measuring
from cli.exporting.writing import as_json, as_yaml
from cli.run_folder import model_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cli.export import ExportSettings
    from cli.exporting.disclosed import Disclosed
    from cli.exporting.measuring import Measured
    from reporter.tokens import Tokenizer

_NAMELESS: Final = "system"


def bundle_of(given: ExportSettings, tokenizer: Tokenizer | None) -> Bundle:
    """What a series comes to.

    Raises:
        LogError: A run cannot be read.
        UsageError: It has no run, or one that is no point of a curve, or two of the same concurrency.
        RulesetError: There is no such ruleset.
    """
    about, basis = disclosed(given.about), basis_of(given.ruleset or ENDPOINTS, tokenizer)
    files: dict[str, bytes] = {}
    invalid: list[str] = []
    missing = [*basis.unmet, *_beside(about)]
    system = f"results/{about.system or _NAMELESS}"
    for name, place in _runs(given.run).items():
        with measuring(place, basis) as run:
            point = _point(run, name, about)
            model = model_folder(str(run.settings.get("model") or ""))
            folder = f"{system}/{model}/r{point['concurrency']}"
            if f"{folder}/point.yaml" in files:
                raise UsageError(
                    f"{name}: there are two points of {point['concurrency']} in flight: export one"
                )
            files |= {f"{folder}/{file}": content for file, content in _files(run, point, about).items()}
            missing += [f"r{point['concurrency']}: {lack}" for lack in _lacks(run, point)]
            invalid += [f"{name}: {reason}" for reason in run.report.validity.reasons]
    if about.system_power:
        files[f"{system}/system_power.json"] = as_json(about.system_power)
    return Bundle(files, {"ruleset": basis.name, "system": about.system}, missing, invalid)


def _runs(path: Path) -> Mapping[str, Path]:
    """The folders of the runs of a series, by the names of its points."""
    from cli.run_folder import folder_of
    from cli.series import series as files
    from recorder.store import LOG_NAME

    folder = folder_of(path)
    series = files.read(folder)
    if series.kind is files.Kind.AUDIT:
        raise UsageError(f"{folder} is an audit: name it beside the run that it is about, with --audit")
    places = {one.name: files.folder_of(folder, series, at) for at, one in enumerate(series.points)}
    if unrun := [name for name, place in places.items() if not (place / LOG_NAME).exists()]:
        raise UsageError(f"{folder}: {unrun[0]} has not been run: go on with `loadgen resume {folder}`")
    return places


def _point(run: Measured, name: str, about: Disclosed) -> dict[str, Any]:
    from reporter.mlperf.point import point

    found = point(run.connection, run.report, run.settings)
    if found["concurrency"] is None:
        raise UsageError(
            f"{name}: a point of a curve is a closed loop or offline, and this is "
            f"{found['runtime_settings']['load_pattern']}: sweep --concurrency"
        )
    return about.beside(found)


def _files(run: Measured, point: Mapping[str, Any], about: Disclosed) -> dict[str, bytes]:
    from reporter.mlperf.config import config
    from reporter.mlperf.result_summary import result_summary

    found = {
        "point.yaml": as_yaml(point),
        "config.yaml": as_yaml(config(run.report, run.settings)),
        "result_summary.json": as_json(
            result_summary(run.connection, run.report, run.evidence, run.settings)
        ),
    }
    return {**found, **({"system_desc.json": as_json(about.system_desc)} if about.system_desc else {})}


def _lacks(run: Measured, point: Mapping[str, Any]) -> Iterator[str]:
    from reporter.mlperf.point import DISCLOSED

    if unsaid := [key for key in DISCLOSED if point.get(key) in (None, "")]:
        yield f"point.yaml: {', '.join(unsaid)}: only the submitter knows: --about FILE"
    if run.report.tpot_ms is None:
        yield "result_summary.json: tpot: no answer has two tokens that were streamed"
    if run.report.output_tokens is None:
        yield "result_summary.json: output_sequence_lengths: outputs have no token counts: --tokenizer NAME"
    yield from counted_otherwise(run)
    if run.report.run["ended"] != "completed":
        yield f"an end in order: the run ended as {run.report.run['ended']}"


def _beside(about: Disclosed) -> Iterator[str]:
    if about.system is None:
        yield f"the system's name, which is {_NAMELESS!r} here: --about FILE"
    if not about.system_desc:
        yield "system_desc.json of each point: what the system is: --about FILE"
    if not about.system_power:
        yield "system_power.json: what the system draws: --about FILE"
    yield "accuracy_results.json, at one point of each region: nothing here was scored"
    yield "src/ and docs/ of the submission"
