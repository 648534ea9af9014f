"""What the client's own delay can decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rulesets import of_expressions
from rulesets.client_delay import IN_DOUBT, can_decide, is_in_doubt


@pytest.mark.parametrize(
    ("rule", "expected"), [("ttft:p(99)<1s", True), ("accuracy.gsm8k:value>=0.5", False)]
)
def test_scores_are_not_in_doubt(rule: str, expected: bool) -> None:  # noqa: FBT001 (a column of the table)
    """Under locked rules all other targets are: the run is valid as a whole or not at all."""
    rules = replace(of_expressions([rule]), locked=True)
    report: dict[str, Any] = {"findings": [{"code": IN_DOUBT}]}
    assert is_in_doubt(rules.targets[0], rules, report) is expected


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("ttft:p(99)<100ms", (80.0, 60.0, 80.0), False),  # the delay only lengthens
        ("ttft:p(99)<10ms", (80.0, 60.0, 80.0), False),  # 60 less 16 is still too much
        ("ttft:p(99)<50ms", (80.0, 60.0, 80.0), True),  # 60 less 16 is not
        ("ttft:p(99)<70ms", (80.0, 60.0, 80.0), True),  # the stamps are in doubt
        ("ttft:p(99)<100ms", (None, None, None), True),
        ("qps>100", (120.0,), True),
        ("good(ttft<100ms):fraction>0.9", (1.0,), True),
    ],
)
def test_what_the_delay_can_decide(rule: str, values: tuple[float | None, ...], expected: bool) -> None:  # noqa: FBT001
    """A latency that misses its bound by more than the most delay is missed by the server."""
    report = {"own_effect": {"ttft_ms": {"p99": {"of_ms": 78.0, "share_high": 0.2}}}}
    (target,) = of_expressions([rule]).targets
    assert can_decide(target, values, report) is expected
