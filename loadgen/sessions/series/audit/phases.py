"""The two phases of the output-caching audit, as points of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.audit.output_caching import ONE_AT_A_TIME, REFERENCE, REPEATED, THRESHOLD
from loadgen.sessions.series.options import point_of
from loadgen.sessions.settings.perf import PerfSettings, perf_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.series.series import SeriesPoint
    from loadgen.sessions.settings.audit import AuditSettings


def phases(given: AuditSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, SeriesPoint]:
    """The reference phase, and the one that repeats a prompt.

    Args:
        given: What was said of the audit.
        perf: The options of `loadgen perf`.

    Raises:
        UsageError: The prompts are not as many as the audit needs, or an option says nothing that it can do.
    """
    reference = _reference(given, perf)
    again = perf_settings(
        **{**perf, "requests": given.audit_requests or reference.requests, "only_prompt": given.sample}
    )
    return (
        point_of(REFERENCE, {"phase": REFERENCE}, reference),
        point_of(REPEATED, {"phase": REPEATED}, again),
    )


def threshold_of(given: AuditSettings, perf: Mapping[str, Any]) -> float:
    """What is allowed: as was asked for, else as MLPerf allows for so many in flight."""
    if given.threshold is not None:
        return given.threshold
    return ONE_AT_A_TIME if perf["concurrency"] == 1 and not perf["offline"] else THRESHOLD


def _reference(given: AuditSettings, perf: Mapping[str, Any]) -> PerfSettings:
    """Distinct samples: none is asked twice, in the warm-up or after it."""
    from loadgen.sessions.run.preparation import prepare
    from reporter.render.figures import counted

    settings = perf_settings(**{**perf, "requests": given.requests})
    prepared = prepare(settings)
    if prepared.plan.warmup_s is not None:
        raise UsageError("--warmup: how many prompts so long a warm-up asks is not known: give a number")
    name, prompts, warmup = (
        prepared.dataset.name,
        len(prepared.dataset.samples),
        prepared.plan.warmup,
    )
    requests = given.requests or prompts - warmup
    if requests + warmup > prompts or requests < 1:
        raise UsageError(
            f"the reference phase asks no prompt twice, and {name} has {prompts}, of which the warm-up asks "
            f"{warmup}: give fewer --requests, or more prompts"
        )
    if given.sample >= prompts:
        raise UsageError(
            f"--sample {given.sample}: {name} has {counted(prompts, 'prompt')}, the first being 0"
        )
    return perf_settings(**{**perf, "requests": requests})
