"""The figures of a run in progress as a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reporter.number_text import bar, figure, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.live.current_figures import LiveFigures, Percentiles

WIDTH: Final = 80
"""Columns that the block is made for; fewer show the first parts of each line."""

Tone = Literal["", "bad", "warn", "dim"]

_NAMED_ERRORS: Final = 4
_SHOWN_TARGETS: Final = 4
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_LAG_MS: Final = 50.0
_FULL_CPU: Final = 0.8
_BEHIND_MS: Final = 1000.0
_LOOP_LAG: Final = "loop_lag_max_ms"


class Line(NamedTuple):
    """A line with its emphasis."""

    text: str
    tone: Tone = ""


def lines(shown: LiveFigures, width: int = WIDTH, height: int | None = None) -> list[Line]:
    """The block.

    Args:
        shown: The figures.
        width: No line is longer; the last parts of a line go first.
        height: The most lines; the last ones go first.
    """
    block = [Line(_fit("", _progress(shown), width))]
    if shown.awaited:
        block.append(Line(_fit("nodes", _nodes(shown), width), "dim"))
    if not shown.nodes or len(shown.awaited) < shown.nodes:
        block.append(Line(_fit("requests", _requests(shown), width)))
        block.append(Line(_fit("rate", _rate(shown), width)))
    recent = f"last {shown.window_s:.0f} s"
    block += [
        Line(_fit(name, [*_percentiles(percentiles), recent], width))
        for name, percentiles in (("TTFT", shown.ttft), ("TPOT", shown.tpot))
        if percentiles is not None
    ]
    block += _targets(shown, width)
    if shown.errors:
        block.append(Line(_fit("errors", _errors(shown), width), "bad"))
    if shown.mean_score is not None:
        score = f"mean score {shown.mean_score:.3f} of {whole(shown.scored)} answers so far"
        block.append(Line(_fit("accuracy", [score], width)))
    health, tone = _health(shown)
    if health:
        block.append(Line(_fit("client", health, width), tone))
    return block[:height]


def _fit(name: str, parts: Sequence[str], width: int) -> str:
    """A line of as many parts as there is room for, two spaces apart; the first one is cut off if need be."""
    text = f"{name:<11}  " if name else ""
    text += parts[0] if parts else ""
    for part in parts[1:]:
        if len(text) + 2 + len(part) > width:
            break
        text += f"  {part}"
    return text[:width].rstrip()


def _progress(shown: LiveFigures) -> list[str]:
    parts = [f"{shown.phase:<11}"]
    if shown.share is not None:
        parts.append(bar(shown.share))
    parts.append(_span(shown.elapsed_s))
    if shown.left_s is not None and shown.phase != "drain":
        parts.append(f"{_span(shown.left_s)} left")
    return parts


def _nodes(shown: LiveFigures) -> list[str]:
    here = shown.nodes - len(shown.awaited)
    parts = [f"{whole(here)} of {whole(shown.nodes)} in these figures"] if here else []
    logs = "1 log is" if len(shown.awaited) == 1 else f"{whole(len(shown.awaited))} logs are"
    return [*parts, f"{logs} not here yet"]


def _requests(shown: LiveFigures) -> list[str]:
    parts = [f"{whole(shown.in_flight)} in flight", f"{whole(shown.completed)} completed"]
    parts.append(f"{whole(shown.errors.total())} failed")
    if shown.cancelled:
        parts.append(f"{whole(shown.cancelled)} cancelled")
    return parts


def _rate(shown: LiveFigures) -> list[str]:
    if shown.rate is None:
        return ["not known yet"]
    reached = f"{figure(shown.rate)} req/s"
    if shown.wanted_rate is not None:
        reached += f" of {figure(shown.wanted_rate)} wanted"
    elif shown.issued_rate is not None:
        reached += f" ({figure(shown.issued_rate)} issued)"
    parts = [reached]
    if shown.output_tps is not None:
        parts.append(f"{figure(shown.output_tps)} output tok/s")
    return parts


def _targets(shown: LiveFigures, width: int) -> Iterator[Line]:
    """A line for each of the first targets: the figure so far, and whether it meets the bound."""
    for target in shown.targets[:_SHOWN_TARGETS]:
        parts = [f"{target.rule:<24}"]
        if target.observed is not None:
            parts.append(f"{f'{figure(target.observed)} {target.unit}'.rstrip():<10}")
        parts.append(target.why if target.holds is None else in_words(holds=target.holds))
        yield Line(_fit("target", parts, width), "bad" if target.holds is False else "")
    if (others := len(shown.targets) - _SHOWN_TARGETS) > 0:
        yield Line(_fit("", [f"{'':<11}  and {whole(others)} more"], width), "dim")


def in_words(*, holds: bool) -> str:
    """Whether a target holds, in words."""
    return "holds so far" if holds else "fails so far"


def _percentiles(percentiles: Percentiles) -> list[str]:
    named = (("p50", percentiles.p50), ("p90", percentiles.p90), ("p99", percentiles.p99))
    return [f"{name} {f'{figure(value)} ms':<10}" for name, value in named]


def _errors(shown: LiveFigures) -> list[str]:
    common = shown.errors.most_common()
    parts = [f"{name} {whole(count)}" for name, count in common[:_NAMED_ERRORS]]
    if others := sum(count for _, count in common[_NAMED_ERRORS:]):
        parts.append(f"others {whole(others)}")
    return parts


def _health(shown: LiveFigures) -> tuple[list[str], Tone]:
    """The health of the load generator's processes, by the last readings."""
    workers = [reading for reading in shown.client if reading.get("source") == "client"]
    recorders = [reading for reading in shown.client if reading.get("source") == "recorder"]
    lag_ms, cpu = _worst(workers, _LOOP_LAG), _worst(workers, "cpu_share")
    behind_ms = _worst(recorders, "longest_wait_ms")
    lost = sum(_number(reading.get("lost")) or 0 for reading in recorders)
    parts = []
    if cpu is not None:
        parts.append(f"CPU {100 * cpu:.0f} %")
    if lag_ms is not None:
        parts.append(f"loop held up {figure(lag_ms)} ms")
    if behind_ms is not None:
        parts.append(f"log {figure(behind_ms)} ms behind at most")
    if lost:
        parts.append(f"{whole(int(lost))} events lost")
    is_slow = (lag_ms or 0) > _LAG_MS or (cpu or 0) > _FULL_CPU or (behind_ms or 0) > _BEHIND_MS
    tone: Tone = "bad" if lost else "warn" if is_slow else ""
    return ([{"bad": "BAD", "warn": "BUSY"}.get(tone, "OK"), *parts] if parts else []), tone


def _worst(readings: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [value for reading in readings if (value := _number(reading.get(name))) is not None]
    return max(values, default=None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _span(seconds: float) -> str:
    whole_s = round(seconds)
    if whole_s < _MINUTE_S:
        return f"{whole_s} s"
    if whole_s < _HOUR_S:
        return f"{whole_s // _MINUTE_S} min {whole_s % _MINUTE_S:02} s"
    return f"{whole_s // _HOUR_S} h {whole_s % _HOUR_S // _MINUTE_S:02} min"
