"""The two phases of the output-caching audit, as points of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.audit.output_caching import ONE_AT_A_TIME, REFERENCE, REPEATED, THRESHOLD
from loadgen.sessions.series.point_options import point_of
from loadgen.sessions.settings.perf import PerfSettings, perf_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.settings.audit import AuditSettings


def phases(settings: AuditSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, SeriesPoint]:
    """The reference phase, and the one that repeats a prompt."""
    reference = _reference(settings, perf)
    again = perf_settings(
        **{
            **perf,
            "requests": settings.audit_requests or reference.load.requests,
            "only_prompt": settings.sample,
        }
    )
    return (
        point_of(REFERENCE, {"phase": REFERENCE}, reference),
        point_of(REPEATED, {"phase": REPEATED}, again),
    )


def threshold_of(settings: AuditSettings, perf: Mapping[str, Any]) -> float:
    """The threshold: as given, else as MLPerf allows for this concurrency."""
    if settings.threshold is not None:
        return settings.threshold
    return ONE_AT_A_TIME if perf["concurrency"] == 1 and not perf["offline"] else THRESHOLD


def _reference(audit_settings: AuditSettings, perf: Mapping[str, Any]) -> PerfSettings:
    """The phase of distinct samples: none is sent twice, in the warm-up or after it."""
    from loadgen.sessions.run.preparation import prepare
    from reporter.number_text import counted

    settings = perf_settings(**{**perf, "requests": audit_settings.requests})
    prepared = prepare(settings)
    if prepared.plan.warmup_s is not None:
        raise UsageError(
            "--warmup: the number of prompts of a timed warm-up is unknown: give a number of requests"
        )
    name, prompts, warmup = (
        prepared.dataset.name,
        len(prepared.dataset.samples),
        prepared.plan.warmup,
    )
    requests = audit_settings.requests or prompts - warmup
    if requests + warmup > prompts or requests < 1:
        raise UsageError(
            f"the reference phase sends no prompt twice, but only {prompts} of {name} remain after "
            f"{warmup} of warm-up; give fewer --requests, or more prompts"
        )
    if audit_settings.sample >= prompts:
        raise UsageError(
            f"--sample {audit_settings.sample}: {name} has {counted(prompts, 'prompt')}, the first being 0"
        )
    return perf_settings(**{**perf, "requests": requests})
