"""The options of `loadgen audit output-caching`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.definition_options import OF_ONE_REPORT
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel

AUDIT: Final = Panel("Audit")


REPLACED: Final = frozenset(
    {
        *(
            "rate",
            "arrival",
            "burstiness",
            "stages",
            "trace",
            "trace_speed",
            "trace_format",
            "trace_model",
            "think",
            "schedule_seed",
        ),
        *("max_concurrency", "sessions", "passes", "duration", "stop_on_overload", "steady"),
        *OF_ONE_REPORT,
        *("order", "weight_column", "only_prompt", "conversations", "turns", "history"),
        *("task", "data", "samples", "offset", "repeats", "columns", "scorer", "eval_function"),
        *("allow_code_execution", "pass_threshold", "judge_url", "judge_model", "judge_api_key"),
        *("judge_concurrency", "judge_timeout", "judge_temperature", "judge_max_tokens"),
        *("require", "ruleset", "scenario", "skip", "abort_on_fail", "inconclusive", "on_invalid", "gpus"),
    }
)
"""Options of `loadgen perf` that an audit does not take: it sends a fixed number of requests in its own
order, as fast as the endpoint answers, and has its own rule."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditSettings:
    """The options of `loadgen audit output-caching` in addition to those of `loadgen perf`."""

    requests: int | None = AUDIT.option(
        "Requests of the reference phase, each of another prompt. Default: each prompt once (synthetic: "
        "100).",
        flags="-- -n",
    )
    audit_requests: int | None = AUDIT.option(
        "Requests of the phase that repeats one prompt. Default: as many."
    )
    sample: int = AUDIT.option("The prompt that is repeated, the first being 0.", 0)
    threshold: float | None = AUDIT.option(
        "The share that may be missing, and by which the repeated prompt may be faster. Default: 0.1; 0.2 "
        "with --concurrency 1.",
        metavar="SHARE",
    )
    cooldown: Seconds = AUDIT.option("The pause between the phases.", 0.0)
    out: Path | None = AUDIT.option("The folder of both runs; runs/<time>-audit by default.")
    json: Json = False
    quiet: bool = AUDIT.switch("No progress.", "-q")

    def __post_init__(self) -> None:
        for option, number in (("--requests", self.requests), ("--audit-requests", self.audit_requests)):
            if number is not None and number < 1:
                raise UsageError(f"{option} {number}: must be 1 or more")
        if self.sample < 0:
            raise UsageError(f"--sample {self.sample}: must be 0 or more")
        if self.threshold is not None and not 0 < self.threshold < 1:
            raise UsageError(f"--threshold {self.threshold:g}: must be between 0 and 1")
