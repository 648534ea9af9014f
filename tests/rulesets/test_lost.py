"""When a target is lost beyond doubt: never one that could still be met."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets import METRICS, parse
from rulesets.early_failure import FigureBounds, RunState, TargetWatch, can_be_lost
from rulesets.quantity import COMPARE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from rulesets import Target
    from rulesets.early_failure import Ending

FIGURES = frozenset(name for name, quantity in METRICS.items() if quantity.kind in {"latency", "length"})

Request = tuple["Ending", float]
"""How it ended, and its latency in ms, which stands for its length too."""

METRIC_NAMES = ("ttft", "tpot", "output_tokens")

METHODS: dict[str, Callable[[Sequence[float], Fraction], float]] = {
    "linear": lambda values, p: _between(values, (len(values) - 1) * p),
    "lower": lambda values, p: values[math.floor((len(values) - 1) * p)],
    "loadgen_floor": lambda values, p: values[math.floor(len(values) * p)],
    "nearest_rank": lambda values, p: values[math.ceil(len(values) * p) - 1],
}


def _between(values: Sequence[float], rank: Fraction) -> float:
    low, part = math.floor(rank), float(rank - math.floor(rank))
    high = min(low + 1, len(values) - 1)
    return values[low] if not part else values[low] + part * (values[high] - values[low])


def watched(
    target: Target, requests: Sequence[Request], planned: int | None, early: Sequence[float] = (), **more: Any
) -> str | None:
    """Why a target is lost after these requests, with some in flight.

    Args:
        target: The target.
        requests: The requests that ended.
        planned: How many are planned.
        early: By how much the figure of each can be smaller; none where it is exact.
        more: `in_flight` and `failed_exceed`.
    """
    in_flight = more.pop("in_flight", 0)
    watch = TargetWatch(target, failed_exceed=more.pop("failed_exceed", False))
    for (ending, figure), less in zip_longest(requests, early[: len(requests)], fillvalue=0.0):
        bounds = FigureBounds(max(0.0, figure - less), figure)
        watch.add(ending, dict.fromkeys(METRIC_NAMES, bounds) if ending == "completed" else {})
    counts = {
        name: sum(ending == name for ending, _ in requests) for name in ("completed", "failed", "cancelled")
    }
    return watch.failed_because(RunState(planned, len(requests) + in_flight, **counts))


def is_met(target: Target, requests: Sequence[Request], method: str, *, failed_exceed: bool) -> bool:
    """Whether a target is met by all requests of a run, as simply as it can be said."""
    completed = sorted(figure for ending, figure in requests if ending == "completed")
    failed = [math.inf for ending, _ in requests if ending == "failed"]
    meets = COMPARE[target.op]
    match target.quantity.kind, target.stat:
        case "count", _:
            counts = {"issued": len(requests), "completed": len(completed), "failed": len(failed)}
            return meets(
                counts.get(target.metric, len(requests) - len(completed) - len(failed)), target.bound
            )
        case "error", _:
            return meets(len(failed) / len(requests), target.bound) if requests else False
        case "good", stat:
            ended = len(completed) + len(failed)
            good = sum(
                COMPARE[condition.op](figure, condition.bound)
                for figure in completed
                for condition in target.conditions
            )
            return ended > 0 and meets(good if stat == "count" else good / ended, target.bound)
        case "interactivity", _:
            figure = _statistic(target, completed, method)
            return figure is not None and meets(1000 / figure if figure else math.inf, target.bound)
        case _:
            exceeding = failed if failed_exceed and target.stat != "mean" else []
            figure = _statistic(target, [*completed, *exceeding], method)
            return figure is not None and meets(figure, target.bound)


def _statistic(target: Target, values: Sequence[float], method: str) -> float | None:
    if not values:
        return None
    if target.percentile is not None:
        return METHODS[method](values, target.percentile)
    return sum(values) / len(values) if target.stat == "mean" else max(values)


TARGETS = [
    *("ttft:p(50)<5ms", "ttft:p(90)<=5ms", "ttft:p(99)<5ms", "ttft:mean<5ms", "ttft:max<9ms"),
    *("output_tokens:p(75)<=5", "output_tokens:mean<5"),
    *("tps_per_user:p(90)>=200", "tps_per_user:mean>200", "tps_per_user:max>150"),
    *("error<20%", "error<=0", "failed<=2", "failed==1", "cancelled<2", "completed>=8", "issued!=12"),
    *("good(ttft<5ms):fraction>=0.8", "good(ttft<5ms):fraction>0.5", "good(ttft<=5ms):count>=8"),
]

REQUESTS = st.lists(
    st.tuples(
        st.sampled_from(["completed", "completed", "completed", "failed", "cancelled"]),
        st.integers(min_value=0, max_value=10).map(float),
    ),
    max_size=20,
)


@pytest.mark.parametrize("written", TARGETS)
@given(
    requests=REQUESTS,
    begun=st.integers(0, 20),
    more=st.integers(0, 3),
    method=st.sampled_from(sorted(METHODS)),
    failed_exceed=st.booleans(),
)
def test_what_is_counted_out_is_missed(
    written: str, requests: list[Any], begun: int, more: int, method: str, *, failed_exceed: bool
) -> None:
    """Whatever was still to come: no run ends with a target met that was called lost on its way."""
    target = parse(written)
    assert can_be_lost(target, FIGURES)
    why = watched(target, requests[:begun], len(requests) + more, failed_exceed=failed_exceed)
    if why is not None:
        failed_exceed = failed_exceed and target.quantity.kind == "latency"
        assert not is_met(target, requests, method, failed_exceed=failed_exceed)


@pytest.mark.parametrize("written", TARGETS)
@given(
    requests=REQUESTS,
    early=st.lists(st.sampled_from([0.0, 0.0, 1.0, 4.0]), min_size=20, max_size=20),
    part=st.sampled_from([0.0, 0.5, 1.0]),
    method=st.sampled_from(sorted(METHODS)),
    failed_exceed=st.booleans(),
)
def test_what_is_lost_is_missed_wherever_the_figures_lie(
    written: str, requests: list[Any], early: list[float], part: float, method: str, *, failed_exceed: bool
) -> None:
    """At the least that the figure of each request can be, at the most, and between them."""
    target = parse(written)
    why = watched(target, requests, len(requests), early, failed_exceed=failed_exceed)
    truth = [
        (ending, figure - part * min(less, figure))
        for (ending, figure), less in zip(requests, early, strict=False)
    ]
    if why is not None:
        failed_exceed = failed_exceed and target.quantity.kind == "latency"
        assert not is_met(target, truth, method, failed_exceed=failed_exceed)


GOOD: Request = ("completed", 1.0)
BAD: Request = ("completed", 9.0)
FAILED: Request = ("failed", 0.0)
GIVEN_UP: Request = ("cancelled", 0.0)


@pytest.mark.parametrize(
    ("written", "planned", "requests", "lost", "not_yet"),
    [
        ("ttft:p(90)<5ms", 100, [BAD], 11, 10),
        ("ttft:p(99)<5ms", 1000, [BAD], 11, 10),
        ("ttft:max<5ms", 100, [BAD], 1, 0),
        ("ttft:max<5ms", None, [BAD], 1, 0),
        ("ttft:mean<5ms", 100, [BAD], 56, 55),
        ("tps_per_user:p(90)>200", 100, [BAD], 11, 10),
        ("error<1%", 1000, [FAILED], 10, 9),
        ("error<=1%", 1000, [FAILED], 11, 10),
        ("failed<=5", None, [FAILED], 6, 5),
        ("failed==5", None, [FAILED], 6, 5),
        ("completed>=95", 100, [FAILED], 6, 5),
        ("completed==100", 100, [GIVEN_UP], 1, 0),
        ("issued<=50", None, [GOOD], 51, 50),
        ("good(ttft<5ms):fraction>=0.95", 100, [BAD], 6, 5),
        ("good(ttft<5ms):fraction>=0.95", 100, [FAILED], 6, 5),
        ("good(ttft<5ms):count>95", 100, [FAILED], 5, 4),
        ("ttft:p(90)<5ms", None, [BAD], 100, 99),
        ("error<1%", None, [FAILED], 100, 99),
        ("good(ttft<5ms):fraction>=0.95", None, [BAD], 100, 99),
    ],
)
def test_a_target_is_lost_with_the_request_that_is_one_too_many(
    written: str, planned: int | None, requests: list[Any], lost: int, not_yet: int
) -> None:
    """And not with the one before. Where the number of requests is unknown, it takes a hundred."""
    assert watched(parse(written), requests * not_yet, planned) is None
    assert watched(parse(written), requests * lost, planned) is not None


@pytest.mark.parametrize(
    "written", ["ttft:p(90)<5ms", "ttft:max<5ms", "ttft:mean<5ms", "good(ttft<5ms):fraction>=0.95"]
)
def test_a_target_that_late_reads_can_have_missed_is_not_lost(written: str) -> None:
    """Requests of 9 ms lose it, unless each can have taken 1 ms."""
    assert watched(parse(written), [BAD] * 100, 100, [4.0] * 100) is not None
    assert watched(parse(written), [BAD] * 100, 100, [8.0] * 100) is None


@pytest.mark.parametrize(
    ("good", "bad", "in_flight", "is_lost"),
    [
        # Of 200 at one in ten 30 or more happen with probability 0.017, 45 or more with 1e-7.
        (170, 30, 0, False),
        (155, 45, 0, True),
        (155, 45, 241, True),
        (155, 45, 242, False),
        (980, 20, 0, False),
    ],
)
def test_without_an_end_in_sight_chance_must_be_ruled_out(
    good: int,
    bad: int,
    in_flight: int,
    is_lost: bool,  # noqa: FBT001 (a row of the table)
) -> None:
    """With a doubt of one in a million, and all that is in flight counted as good."""
    requests: list[Any] = [*[GOOD] * good, *[BAD] * bad]
    assert (watched(parse("ttft:p(90)<5ms"), requests, None, in_flight=in_flight) is not None) == is_lost


@pytest.mark.parametrize(
    "never",
    [
        "qps>5",
        "tps>5",
        "tps_per_gpu>5",
        "ttft:min<5ms",
        "tps_per_user:min>5",
        "output_tokens:mean>5",
        "accuracy.x>5",
        "ttft:p(9):delta<5%",
        "ttft{region:high}:p(9)<5ms",
        "good(ttft<5ms):rate>1",
    ],
)
def test_some_targets_are_never_lost_before_the_end(never: str) -> None:
    """Later requests could make up for any loss, or the figure is not known before the end."""
    assert not can_be_lost(parse(never), FIGURES)


def test_what_is_not_followed_cannot_be_lost() -> None:
    """A figure that is not followed during the run, alone or in a condition."""
    assert not can_be_lost(parse("tpot:p(9)<5ms"), FIGURES - {"tpot"})
    assert not can_be_lost(parse("tps_per_user:p(9)>5"), FIGURES - {"tpot"})
    assert not can_be_lost(parse("good(ttft<1s,tpot<5ms):fraction>0.5"), FIGURES - {"tpot"})


def test_the_reason_is_a_sentence_with_its_figures() -> None:
    """How many miss it, of how many, and how many may."""
    bad: list[Any] = [GOOD] * 4 + [BAD] * 11
    assert (
        watched(parse("ttft:p(99)<5ms"), bad, 1000) == "11 of 15 so far miss it, and of 1,000 at most 10 may"
    )
    assert watched(parse("failed<1"), [FAILED], 1000) == "failed is 1 already"
    assert watched(parse("completed>=1000"), [FAILED], 1000) == "at most 999"
