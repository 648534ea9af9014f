"""A verdict alone, as a gate prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reporter.render import verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeRow = Callable[..., dict[str, Any]]
    Golden = Callable[[str, str], None]


def test_a_verdict_that_passes(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """A verdict that passes is a headline and its rules."""
    rules = a_verdict(
        "PASS",
        a_rule(),
        a_rule("qps>=100req/s", observed=123.87, bound=100.0, unit="req/s", margin=0.2387),
        a_rule("completed:count>=1000", observed=7435.0, bound=1000.0, unit="", margin=6.435),
    )
    golden("verdict_pass.txt", verdict.render(rules, width=80))


def test_a_verdict_on_an_invalid_run(a_rule: MakeRow, a_verdict: MakeRow, golden: Golden) -> None:
    """A run that is invalid says why before it shows any rule."""
    rules = a_verdict(
        "INVALID",
        a_rule(
            "min_duration_s: 60",
            id="validity.min_duration_s",
            observed=12.31,
            bound=60.0,
            unit="s",
            status="INVALID",
            margin=-0.7948,
            reason="the window is 12.31 s, and >= 60 s is asked for",
        ),
        a_rule(),
        reasons=["The client was late: issue lag p99 is 12.5 ms, beside a TTFT p99 of 87.1 ms."],
    )
    golden("verdict_invalid.txt", verdict.render(rules, width=80))


@pytest.mark.parametrize(
    ("observed", "bound", "shown"),
    [
        (87.0744, 500.0, "87.1 ms"),
        (499.96, 500.0, "499.96 ms"),
        (500.0, 500.0, "500 ms"),
        (500.0000001, 500.0, "500.000000 ms"),
        (0.00042, 0.01, "0.000420 ms"),
        (7435.0, 1.0, "7,435 ms"),
    ],
)
def test_a_figure_is_told_from_its_bound(
    a_rule: MakeRow,
    a_verdict: MakeRow,
    observed: float,
    bound: float,
    shown: str,
) -> None:
    """A figure beside its bound has as many digits as it takes to see on which side it lies."""
    text = verdict.render(a_verdict("PASS", a_rule(observed=observed, bound=bound)))
    assert f" {shown}  " in text
