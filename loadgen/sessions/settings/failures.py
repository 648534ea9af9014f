"""The options of failures: retries, bounds, and when a run is ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loadgen.sessions.settings.kinds import Share, Size
from loadgen.sessions.settings.option import Panel

FAILURES: Final = Panel("Failures")


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureSettings:
    """Options of failures."""

    retry: int = FAILURES.option("Retry transient failures up to N times; each attempt is logged.", 0)
    max_errors: int | None = FAILURES.option("End the run, as invalid, when N measured requests have failed.")
    max_error_rate: Share | None = FAILURES.option(
        "Share of failed requests above which the run is invalid: 10% or 0.1 (5% if not given). If given, "
        "the run ends there, from 20 requests on."
    )
    max_response: Size = FAILURES.option(
        "Give up a response that is larger than this: 10MB, 64MiB.", 67_108_864
    )
