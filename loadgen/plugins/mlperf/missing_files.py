"""The missing parts of a curve for a submission, a sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.mlperf.measuring import counted_otherwise
from loadgen.plugins.mlperf.point_yaml import DISCLOSED, ELECTED, NAMELESS, NOT_OFFLINE, ExportedPoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.mlperf.measuring import MeasuredRun
    from loadgen.plugins.mlperf.submission_names import RoundModels
    from loadgen.plugins.mlperf.submitter_file import SubmitterFile

_WITHOUT_POWER: Final = frozenset({"rdi", "serviced"})
"""The divisions that need not say what the system draws (endpoints_rules.md §4.5)."""
_ACCURACY: Final = "accuracy_results.json"
_REGIONS: Final = 4


def of_point(run: MeasuredRun) -> Iterator[str]:
    """The required figures that a run does not have."""
    if run.report.tpot_ms is None:
        yield "result_summary.json: tpot: no answer has two tokens that were streamed"
    if run.report.output_tokens is None:
        yield "result_summary.json: output_sequence_lengths: outputs have no token counts: --tokenizer NAME"
    yield from counted_otherwise(run)
    if run.report.run.ended != "completed":
        yield f"an end in order: the run ended as {run.report.run.ended}"


def undisclosed(disclosure: Mapping[str, Any]) -> Iterator[str]:
    """The members that a point.yaml must have, and has not."""
    if absent := [key for key in DISCLOSED if disclosure.get(key) in (None, "")]:
        yield f"point.yaml: {', '.join(absent)}: only the submitter knows: --about FILE"
    if disclosure["runtime_settings"]["runtime"]["model_seed"] is None:
        yield (
            "point.yaml: runtime_settings.runtime.model_seed: requests had no seed: measure with "
            "--extra-body '{\"seed\": N}'"
        )


def of_curve(points: Sequence[ExportedPoint], about: SubmitterFile, official: RoundModels) -> Iterator[str]:
    """The missing parts of the submission as a whole."""
    from loadgen.plugins.mlperf import system_description, system_power

    if about.system is None:
        yield f"the system's name, which is {NAMELESS!r} here: --about FILE"
    yield from system_description.faults(about.system_desc)
    c_min = about.system_desc.get("c_min_override")
    if c_min is not None and not any(point.disclosure["concurrency"] == c_min for point in points):
        yield f"system_desc.json: c_min_override: no point lies at {c_min}"
    divisions = {str(point.disclosure.get("division")).lower() for point in points}
    if about.system_power or not divisions <= _WITHOUT_POWER:
        yield from system_power.faults(about.system_power)
    for model in dict.fromkeys(point.model for point in points):
        own = [point for point in points if point.model == model]
        if model not in official.agentic:
            yield (
                f"point.yaml: model_name: {model!r} is not a model of the round, which has "
                f"{', '.join(official.agentic)}: --about FILE, point: {{model_name: NAME}}"
            )
        agentic = official.agentic.get(model, False)
        if not agentic and all(point.disclosure["offline"] == NOT_OFFLINE for point in own):
            yield f"an Offline result: no run with --offline, and no point at C_max ({about.c_max})"
        yield from _unscored(own, agentic=agentic)
    yield "src/ and docs/ of the submission"


def _unscored(points: Sequence[ExportedPoint], *, agentic: bool) -> Iterator[str]:
    """Whether as many points have an accuracy result as a submission has; an elected one counts twice."""
    wanted = _REGIONS if agentic else _REGIONS + 1
    scored = [point for point in points if _ACCURACY in point.files]
    count = len(scored) + any(point.disclosure["offline"] == ELECTED for point in scored)
    if count < wanted:
        where = "in each region" if agentic else "in each region and Offline"
        yield f"{_ACCURACY}: of one point {where}: {count} of {wanted} are there: --accuracy FILE with points"
