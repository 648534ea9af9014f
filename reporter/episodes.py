"""The episodes of a run: `episodes` in report.json. docs/agents.md has the definitions."""

from __future__ import annotations

from lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EpisodeFigure:
    """The distribution of a figure over the episodes that ended."""

    count: int
    mean: float
    median: float
    p99: float
    min: float
    max: float
    total: float


@dataclass(frozen=True, slots=True)
class EpisodeTurn:
    """The turns of one number, from 0, of all episodes."""

    turn: int
    count: int
    failed: int
    ttft_p50_ms: float | None
    latency_p50_ms: float | None
    input_tokens_mean: float | None
    output_tokens_mean: float | None


@dataclass(frozen=True, slots=True)
class EpisodeTool:
    """The calls of one tool."""

    name: str
    count: int
    failed: int
    mean_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Episodes:
    """The measured episodes of a run.

    Attributes:
        count: How many began.
        endings: How many ended in which way; `none` for those that a kill left open.
        figures: By name: `turns`, `tool_calls`, `duration_ms` and its parts `setup_ms`, `wall_ms` (`model_ms`
            + `tool_ms` + `user_ms` + `own_ms`) and `finish_ms`, tokens, `reward`. Episodes that the session
            cut are left out.
        turns: The turns by their number, at most 100.
        tools: The tools, at most 100.
    """

    count: int
    endings: dict[str, int]
    figures: dict[str, EpisodeFigure]
    turns: list[EpisodeTurn]
    tools: list[EpisodeTool]
