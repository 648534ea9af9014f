"""Requirements as other tools write them: each is answered with the short form to type instead."""

from __future__ import annotations

import re

import pytest

from rulesets import ExpressionError, parse
from rulesets.condition import Condition

INSTEAD = {
    "p99(ttft)<500ms": "ttft:p(99)<500ms",
    "p(99)<500ms": "latency:p(99)<500ms",
    "p(95)<500": "latency:p(95)<500ms",
    "throughput>100": "qps>100",
    "throughput>100tok/s": "output_tps>100tok/s",
    "output_throughput>1000": "output_tps>1000",
    "tokens_per_second>50": "output_tps>50",
    "success>=99%": "error<=1%",
    "success_rate>0.999": "error<0.1%",
    "http_req_duration:p(95)<500": "latency:p(95)<500ms",
    "http_req_failed<0.01": "error<1%",
    "rate<0.01": None,
    "ttft<500ms": "ttft:p(99)<500ms",
    "ttft:p99<500": "ttft:p(99)<500ms",
    "ttft.p99<=0.5s": "ttft:p(99)<=0.5s",
    "ttft_p99<500ms": "ttft:p(99)<500ms",
    "ttft_ms.p99<500": "ttft:p(99)<500ms",
    "ttft[p99]<500ms": "ttft:p(99)<500ms",
    "ttft:95<500ms": "ttft:p(95)<500ms",
    "p95 ttft < 500ms": "ttft:p(95)<500ms",
    "ttft p95 < 500ms": "ttft:p(95)<500ms",
    "TTFT P99 <= 500 ms": "ttft:p(99)<=500ms",
    "p999(latency)<3s": "latency:p(99.9)<3s",
    "error_rate<1%": "error<1%",
    "errors<1": "error<1%",
    "TTFT:p(99)<500ms": "ttft:p(99)<500ms",
    "ttft:p(99)=<500ms": "ttft:p(99)<=500ms",
    "ttft:p(99)≤500ms": "ttft:p(99)<=500ms",
    "qps=>10": "qps>=10",
    "goodput>0.9": "good(ttft<500ms,tpot<50ms):fraction>90%",
    "latency:p(99)<2": "latency:p(99)<2s",
    "latency<2s": "latency:p(99)<2s",
    "tpot:p(90)<50": "tpot:p(90)<50ms",
    "median(itl)<20": "itl:p(50)<20ms",
    "avg(ttft)<1s": "ttft:mean<1s",
    "mean ttft < 1s": "ttft:mean<1s",
    "ttft:p(0.99)<1s": "ttft:p(99)<1s",
    "ttft:200": "ttft:p(99)<=200ms",
    "time_to_first_token:p99<500": "ttft:p(99)<500ms",
    "accuracy>0.8": "accuracy.NAME>0.8",
    "ttft{phase:x}:p99<500": "ttft{phase:x}:p(99)<500ms",
    "ttft:p(99)<500@es99!warn": "ttft:p(99)<500ms@es99!warn",
    "ttft:p(99)>500ms": None,
    "speed>3": None,
}
"""What is typed, and what to type instead; None where that is not plain."""


@pytest.mark.parametrize("typed", INSTEAD)
def test_the_short_form_to_type_is_in_the_message(typed: str) -> None:
    """It can be read, and the message ends with it."""
    with pytest.raises(ExpressionError) as refused:
        parse(typed)
    instead = re.search(r"; type '(.*)'$", str(refused.value))
    assert (instead[1] if instead else None) == INSTEAD[typed]
    if instead:
        parse(instead[1])


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("ttft:p(99)<500 ms", "ttft:p(99)<500ms"),
        ("ttft:p99<500ms", "ttft:p(99)<500ms"),
        ("ttft:avg<1s", "ttft:mean<1s"),
        ("rps>10", "qps:value>10req/s"),
        ("tps_per_user:p(0.1)>10", "tps_per_user:p(0.1)>10tok/s"),
    ],
)
def test_what_is_plain_is_read(typed: str, read: str) -> None:
    """A blank, another name, and a percentile of the slow end need no correction."""
    assert parse(typed).id == read


def test_a_condition_is_not_corrected() -> None:
    """The suggestion for goodput has conditions that can be read."""
    good = parse("good(ttft<500ms,tpot<50ms):fraction>90%")
    assert good.conditions == (Condition.parse("ttft<500ms"), Condition.parse("tpot<50ms"))
