"""The sessions of a run: `sessions` in report.json. docs/sessions.md has the definitions."""

from __future__ import annotations

from lazy_dataclasses import dataclass


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
class SessionReuse:
    """The measured requests of a range of turns of streams, whose prompts have a count of cached tokens.

    Attributes:
        from_turn: The first turn of the range, from 1; `to_turn` is the last.
        reusable_tokens_mean: What earlier requests of the session had of a prompt.
        reused_rate: The share of these tokens that was cached; None where there are none.
    """

    from_turn: int
    to_turn: int
    count: int
    input_tokens_mean: float
    reusable_tokens_mean: float
    cached_tokens_mean: float
    reused_rate: float | None


@dataclass(frozen=True, slots=True)
class SessionFidelity:
    """A recorded figure against the realised one, over requests or sessions; at the speed of the replay.

    Attributes:
        ratio: Realised ÷ recorded; None where nothing was recorded but 0.
        off_p99: Of the absolute differences, the 99th percentile; `off_max` is the largest.
    """

    count: int
    recorded_mean: float
    realised_mean: float
    ratio: float | None
    off_p99: float
    off_max: float


@dataclass(frozen=True, slots=True)
class Sessions:
    """The measured sessions of several turns.

    Attributes:
        count: How many began.
        endings: How many ended in which way.
        figures: By name: `session_ms` (the duration), `first_ttft_ms`, `later_ttft_ms` (the mean TTFT of the
            later turns), `ttfat_ms`, `join_wait_ms`, `critical_ms`, `tool_ms`, `delay_ms`, `turns`, `streams`
            and tokens, of completed sessions.
        depths: The requests by depth.
        reuse: The reuse of prefixes by turn.
        fidelity: By name: `input_tokens`, `output_tokens`, `delay_ms`, `session_ms`, against the record.
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
        reused_rate: The share that was cached of the tokens that earlier requests of the session had, from
            the second turn of streams on, of prompts with 1,024 such tokens or more.
        reusing_turns: The requests that `reused_rate` is of.
        lost_turns: Those of them that had less than half of these tokens cached.
        ttft_coverage: The time from the start to the last first token, as a share of the requested duration;
            None without one.
        itl_coverage: The same up to the last end of a request with two tokens or more.
    """

    count: int
    endings: dict[str, int]
    figures: dict[str, SessionFigure]
    depths: list[SessionDepth]
    reuse: list[SessionReuse]
    fidelity: dict[str, SessionFidelity]
    asked: int
    never_asked: int
    overtaken_turns: int | None
    jobs_per_hour_per_user: float | None
    jobs_per_hour: float | None
    jobs_per_hour_per_gpu: float | None
    theoretical_hit_rate: float | None
    measured_hit_rate: float | None
    eligible_hit_rate: float | None
    reused_rate: float | None
    reusing_turns: int
    lost_turns: int
    ttft_coverage: float | None
    itl_coverage: float | None
