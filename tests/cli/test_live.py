"""The live line: how far, how fast, how well."""

from collections import Counter

import pytest

from loadgen.cli.terminal.live import progress_line as line
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Offline
from loadgen.driver.plan import Plan
from loadgen.driver.progress import SessionProgress

SECOND = 1_000_000_000


def plan(requests: int | None = None, duration_s: float | None = None) -> Plan:
    """A plan with these limits."""
    return Plan(Offline(), requests or 1, duration_s, 0, Generation("m"), "chat", 0, Timeouts(60.0))


def progress(**counters: object) -> SessionProgress:
    """Counters in the middle of the measurement, which began at second 100."""
    shown = SessionProgress(phase="performance", phase_started_ns=100 * SECOND)
    for name, value in counters.items():
        setattr(shown, name, value)
    return shown


@pytest.mark.parametrize(
    ("shown", "goal", "expected"),
    [
        (
            progress(completed=45, issued=60, in_flight=15),
            plan(requests=90),
            "performance  ████████████░░░░░░░░░░░░  50 %  45 done  4.5 req/s  15 in flight  0 errors  10 s",
        ),
        (
            progress(completed=7, errors=Counter({"reset": 2, "http_429": 1})),
            plan(requests=1000, duration_s=20),
            (
                "performance  ████████████░░░░░░░░░░░░  50 %  "
                "7 done  1.0 req/s  0 in flight  3 errors (reset)  10 s"
            ),
        ),
        (
            SessionProgress(phase="warmup", phase_started_ns=109 * SECOND, in_flight=4),
            plan(requests=5),
            "warmup       0 done  4 in flight  0 errors  1 s",
        ),
        (SessionProgress(), plan(requests=5), "setup        0 done  0 in flight  0 errors  0 s"),
    ],
)
def test_the_line(shown: SessionProgress, goal: Plan, expected: str) -> None:
    """Words and figures as the terminal shows them."""
    assert line(shown, goal, 110 * SECOND) == expected


def test_the_line_has_the_score_so_far() -> None:
    """Of a benchmark: a broken prompt shows before the run is over."""
    shown = line(progress(completed=4), plan(requests=8), 110 * SECOND, score="gsm8k 0.250 of 4")
    assert "4 done  0.4 req/s  score gsm8k 0.250 of 4  0 in flight" in shown


@pytest.mark.parametrize("width", [5, 20, 40, 79])
def test_the_line_fits_the_terminal(width: int) -> None:
    """A line that wraps could not be rewritten; the bar goes before the figures do."""
    shown = progress(completed=45, in_flight=15, errors=Counter({"total_timeout": 12345}))
    whole = "performance  100 %  45 done  1239.0 req/s  15 in flight  12345 errors (total_timeout)  10 s"
    assert line(shown, plan(requests=90), 110 * SECOND, width) == whole[:width]
    assert "█" in line(shown, plan(requests=90), 110 * SECOND, 200)


def test_the_median_of_the_latest_first_tokens() -> None:
    """The live TTFT forgets what is long past."""
    shown = progress()
    shown.recent_ttft_ms.extend([1000.0] * 500 + [20.0] * 199 + [30.0])
    assert "TTFT 20.0 ms" in line(shown, plan(requests=5), 110 * SECOND)
