"""The sessions of a run: `sessions` in report.json. docs/sessions.md has the definitions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionFigure:
    """The distribution of a figure over the sessions that completed."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class SessionDepth:
    """The requests of the agents of one depth; 0 is the main agent."""

    depth: int
    count: int
    failed: int
    ttft_p50_ms: float | None
    ttft_p95_ms: float | None
    input_tokens_mean: float | None


@dataclass(frozen=True, slots=True)
class Sessions:
    """The measured sessions of several turns.

    Attributes:
        count: How many began.
        endings: How many ended in which way.
        figures: By name: `session_ms` (the duration), `first_ttft_ms`, `ttfat_ms`, `join_wait_ms`,
            `critical_ms`, `tool_ms`, `delay_ms`, `turns`, `streams` and tokens, of completed sessions.
        depths: The requests by depth.
        asked: Requests issued.
        never_asked: Requests never issued.
        overtaken_turns: Requests issued before one that began earlier in the recorded session; None without
            records.
        jobs_per_hour_per_user: 3,600 s ÷ the mean duration.
        jobs_per_hour: Completed sessions per hour.
        jobs_per_hour_per_gpu: The same per GPU (`--gpus`).
        theoretical_hit_rate: The share of tokens of recorded blocks that earlier prompts of the session had.
        measured_hit_rate: The share of prompt tokens that were cached.
        eligible_hit_rate: The cached tokens relative to the prompts and answers that prompts extend.
        input_ratio: Prompt tokens, sent ÷ recorded.
        output_ratio: Output tokens, received ÷ recorded.
        delay_error_p99_ms: The difference between realised and recorded delays, at the speed of the replay.
    """

    count: int
    endings: dict[str, int]
    figures: dict[str, SessionFigure]
    depths: list[SessionDepth]
    asked: int
    never_asked: int
    overtaken_turns: int | None
    jobs_per_hour_per_user: float | None
    jobs_per_hour: float | None
    jobs_per_hour_per_gpu: float | None
    theoretical_hit_rate: float | None
    measured_hit_rate: float | None
    eligible_hit_rate: float | None
    input_ratio: float | None
    output_ratio: float | None
    delay_error_p99_ms: float | None
