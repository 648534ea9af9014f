"""The recorded attempts of a harness at tasks, with the facts of each."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass, field
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from workloads.scorer import Headline

MOST_COUNT: Final = 10**12
MOST_SECONDS: Final = 10**9
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2200
"""The years whose nanoseconds have 64 bits."""

_LIMITS: Final = {
    "turns": MOST_COUNT,
    "input_tokens": MOST_COUNT,
    "output_tokens": MOST_COUNT,
    "cached_tokens": MOST_COUNT,
    "duration_s": MOST_SECONDS,
}

Ending = Literal["completed", "max_turns", "max_tokens", "max_time", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt at a task. None, or an empty mapping, marks facts absent from the format.

    Attributes:
        task_id: The harness's name of the task.
        value: Its score.
        ending: How the episode ended; `failed` counts as 0 whatever `value` is. None where the format knows
            no episodes.
        failure: The name of what failed.
        is_parsed: Whether the harness could read the outcome; if not, `value` is 0.
        reason: A sentence on the outcome.
        part: The data set of a run of several.
        tags: What scores can be grouped by.
        metrics: Further figures, `cost_usd` among them.
        details: Texts about the score.
        prompt: What was asked.
        answer: The last answer.
        messages: The conversation, as chat messages.
        turns: How often the model was asked.
        started: When it started, with a time zone.
        duration_s: How long the attempt took.
        input_tokens: Of the whole attempt; so are the other two.
        output_tokens: As above.
        cached_tokens: As above.
    """

    task_id: str
    value: float
    ending: Ending | None = "completed"
    failure: str | None = None
    is_parsed: bool = True
    reason: str | None = None
    part: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    prompt: str | None = None
    answer: str | None = None
    messages: Sequence[Mapping[str, Any]] = ()
    turns: int | None = None
    started: datetime | None = None
    duration_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessResults:
    """The results of a run.

    Attributes:
        attempts: In the order of the harness.
        model: The model; None where no file names it.
        facts: What else the harness recorded of the run: its agent, its data set, its version.
        groups: The tags that scores are broken down by.
        notes: Sentences on what the results lack or deviate in.
    """

    attempts: Sequence[Attempt]
    model: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ResultFormat:
    """The results of one harness.

    Attributes:
        name: As `loadgen import` calls it; also the task of its scores.
        title: What it reads, in a few words.
        definition: Where the format and the rule of its scores are from: repository and commit, or version.
        read: Reads a file or a folder.
        headlines: The figures of a run; the first is its score.
        preset: The preset of `--agent-command` that runs the harness; empty where there is none.
    """

    name: str
    title: str
    definition: str
    read: Callable[[Path], HarnessResults]
    headlines: tuple[Headline, ...]
    preset: str = ""


def require_storable(path: Path, attempts: Iterable[Attempt]) -> None:
    """Check that a log can hold the numbers of attempts.

    Raises:
        MalformedError: A count, a time or a score is beyond all harnesses.
    """
    for attempt in attempts:
        where = f"{path}: {attempt.task_id}"
        for name, limit in _LIMITS.items():
            value = getattr(attempt, name)
            if value is not None and not 0 <= value <= limit:
                raise MalformedError(f"{where}: {name} must be from 0 to {limit:,}, not {float(value):g}")
        if attempt.started is not None and not FIRST_YEAR <= attempt.started.year <= LAST_YEAR:
            raise MalformedError(f"{where}: the start is in the year {attempt.started.year}")
        for name, figure in {"score": attempt.value, **attempt.metrics}.items():
            if not math.isfinite(figure):
                raise MalformedError(f"{where}: {name} must be a finite number, not {figure}")


def values_by_task(attempts: Sequence[Attempt]) -> dict[tuple[str, str], list[float | None]]:
    """The values of all attempts, by the part and the task."""
    values: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for attempt in attempts:
        values[attempt.part, attempt.task_id].append(0.0 if attempt.ending == "failed" else attempt.value)
    return values


def unequal_note(attempts: Sequence[Attempt]) -> list[str]:
    """A note with the mean over tasks, if different from the mean over attempts; else empty."""
    by_task = values_by_task(attempts).values()
    if len({len(values) for values in by_task}) < 2:  # noqa: PLR2004 (all have the same number)
        return []
    mean = fmean(fmean(value or 0.0 for value in values) for values in by_task)
    return [
        f"tasks have different numbers of attempts: the mean over tasks, which is the rule, is {mean:.4f}"
    ]
