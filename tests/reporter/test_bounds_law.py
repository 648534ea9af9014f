"""A law: whenever the single chunks arrived, the true figures lie between the bounds of the stamps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.late_read_bounds import METRICS, column
from tests.conftest import EXAMPLES
from tests.reporter.conftest import BASE_NS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter.report import Report
    from tests.reporter.conftest import Run

STATS = ("mean", "min", "p50", "p90", "p99", "max")
BREAKDOWN = ("ttft_ms", "tpot_ms", "latency_ms", "latency_from_schedule_ms")
ROUNDING = 1e-6
"""By which share sums of the same numbers may differ."""


@dataclass(frozen=True)
class Request:
    """What happened to a request and what the client stamped of it, in us since it was due.

    Attributes:
        tag: Its tag.
        issued: When it was issued.
        sent: Between which moments it was sent, and when in truth.
        arrivals: When each chunk arrived in truth.
        stamps: What each was stamped.
        lows: The earliest moment at which each can have arrived, by the log.
        complete: When the response was complete, by its stamp and in truth.
    """

    tag: str
    issued: int
    sent: tuple[int, int, int]
    arrivals: tuple[int, ...]
    stamps: tuple[int, ...]
    lows: tuple[int, ...]
    complete: tuple[int, int]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    """One whose chunks came in reads of one or several, of which a busy client read some late."""

    def span(greatest: int, least: int = 1) -> int:
        return draw(st.integers(least, greatest))

    issued = span(20_000, 0)
    sent = issued + span(5_000, 0)
    sent_true = sent + draw(st.sampled_from([0, 0, 400]))
    sent_high = sent_true + draw(st.sampled_from([0, 700]))
    now, arrivals, stamps, lows = sent_high, [], [], []
    for size in draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)):
        quiet = now + span(20_000, 0)
        times = []
        for _ in range(size):
            now = max(now, quiet) + span(15_000)
            times.append(now)
        late = draw(st.sampled_from([0, 0, 9_000]))
        stamp = now + late
        arrivals += times
        stamps += [stamp] * size
        lows += [quiet] * (size - 1) + [quiet if late else stamp]
        now = stamp
    tail = span(3_000, 0)
    # What follows a last token that was read late may have been there as early as that token.
    complete_true = stamps[-1] + tail if lows[-1] == stamps[-1] else arrivals[-1] + min(tail, 10)
    return Request(
        draw(st.sampled_from("ab")),
        issued,
        (sent, sent_true, sent_high),
        tuple(arrivals),
        tuple(stamps),
        tuple(lows),
        (stamps[-1] + tail, complete_true),
    )


def logged(run: Run, request: Request, due_ms: float, *, truth: bool) -> None:
    """Put a request into a log: with its stamps and what is in doubt of them, or with the truth."""

    def at(us: int) -> float:
        return due_ms + us / 1000

    sent, sent_true, sent_high = request.sent
    issue: dict[str, Any] = {
        "scheduled": due_ms,
        "sent": at(sent_true if truth else sent),
        "about": {"tags": {"kind": request.tag}},
    }
    doubts: dict[str, Any] = {}
    if not truth:
        issue["sent_high_ns"] = BASE_NS + round(at(sent_high) * 1e6)
        low = [BASE_NS + round(at(us) * 1e6) for us in request.lows]
        early = [stamp - least for stamp, least in zip(request.stamps, request.lows, strict=True)]
        doubts = {
            "late_chunks": [number for place, us in enumerate(early) if us for number in (place, 1, us)]
            or None,
            **{
                f"{name}_low_ns": low[0]
                for name in ("first_byte", "first_token", "first_output", "first_visible")
            },
            "last_token_low_ns": low[-1],
        }
    run.answers(
        *map(at, request.arrivals if truth else request.stamps),
        at_ms=at(request.issued),
        complete=at(request.complete[truth]),
        usage=(7, len(request.stamps)),
        issue=issue,
        **doubts,
    )


def assert_between(bounds: Mapping[str, Any], stamped: Any, true: Any, name: str) -> None:
    """Every figure of the truth is between its bounds; without any, it is the figure itself."""
    interval, figures = bounds.get(name), getattr(true, name)
    if figures is None:
        return
    low, high = (interval.low, interval.high) if interval else (getattr(stamped, name),) * 2
    for stat in STATS:
        least, value, greatest = (getattr(summary, stat) for summary in (low, figures, high))
        assert least * (1 - ROUNDING) - 1e-6 <= value <= greatest * (1 + ROUNDING) + 1e-6, (name, stat)


@settings(max_examples=4 * EXAMPLES, deadline=None)
@given(drawn=st.lists(requests(), min_size=1, max_size=18))
def test_the_truth_is_between_the_bounds(a_run: Callable[..., Run], drawn: list[Request]) -> None:
    """Of every metric, of the parts of the run, and of the share of client overhead."""
    reports: list[Report] = []
    for truth in (False, True):
        run = a_run(kind="constant", rate=1.0)
        for number, request in enumerate(drawn):
            logged(run, request, 1000.0 * number, truth=truth)
        reports.append(run.stops(1000.0 * len(drawn)).ends(1000.0 * len(drawn) + 500).report())
    stamped, true = reports
    for name in (*map(column, METRICS), "itl_ms"):
        assert_between(stamped.bounds, stamped, true, name)
    parts = {part.value: part for part in true.breakdown.get("kind", ())}
    for part in stamped.breakdown.get("kind", ()):
        for name in BREAKDOWN:
            assert_between(part.bounds, part, parts[part.value], name)
    for key, by_stat in true.own_effect.items():
        for stat, effect in by_stat.items():
            overhead = stamped.own_effect[key][stat]
            low = overhead.share if overhead.share_low is None else overhead.share_low
            high = overhead.share if overhead.share_high is None else overhead.share_high
            assert low - ROUNDING <= effect.share <= high + ROUNDING, (key, stat)
