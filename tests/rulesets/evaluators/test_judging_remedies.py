"""What to do where a target was not measured: a misspelt tag, and a stream that was not requested."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.evaluation import evaluate
from rulesets.evidence import Good
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeRun = Callable[..., Any]


@pytest.mark.parametrize(
    ("expression", "remedy"),
    [
        ("ttft{clas:short}:p(50)<1s", "no request has the tag 'clas'; did you mean 'class'?"),
        ("ttft{class:shrot}:p(50)<1s", "no request has class:shrot; did you mean 'short'?"),
        ("failed{zzz:1}==0", "no request has the tag 'zzz'; choose one of 'class', 'many' or 'turn'"),
        ("ttft{class:short,region:eu}:p(50)<1s", "no request has the tag 'region'; choose one of"),
        ("ttft{class:short}:p(50)<1s", "ask something that is tagged class:short"),
        ("ttft{many:beyond}:p(50)<1s", "ask something that is tagged many:beyond"),
        ("ttft{endpoint:b,class:long}:p(50)<1s", "ask something that is tagged class:long and endpoint:b"),
    ],
)
def test_a_misspelt_tag_gets_the_nearest_as_a_suggestion(
    expression: str, remedy: str, make_run: MakeRun
) -> None:
    """Of tags, or of their values; where a report leaves values out, the remedy leaves them out."""
    run = make_run()
    values = {
        "class": [{"value": "short", "values": 1}, {"value": "long", "values": 1}],
        "many": [{"value": "first", "values": 1}, {"value": None, "values": 9}],
        "phase": [{"value": "warmup", "values": 1}],
        "turn": [{"value": "0", "values": 1}],
    }
    with_breakdown = replace(run, report={**run.report, "breakdown": values})  # type: ignore[type-var]  # a run by hand
    row = evaluate(Ruleset("r", "1", (parse(expression),)), with_breakdown).rows[0]
    assert row.status == "FAIL"
    assert row.remedy.replace("'", "").startswith(remedy.replace("'", ""))
    if "zzz" in expression:
        untagged = evaluate(Ruleset("r", "1", (parse(expression),)), run).rows[0]
        assert "the run has no tags" in untagged.remedy


@pytest.mark.parametrize(
    ("expression", "stream", "remedy"),
    [
        ("good(ttft<1s):fraction>0.9", False, "ask for a stream (leave --no-stream out)"),
        ("good(latency<1s,tpot<1s):fraction>0.9", False, "ask for a stream (leave --no-stream out)"),
        ("good(latency<1s):fraction>0.9", False, ""),
        ("good(ttft<1s):fraction>0.9", True, ""),
    ],
)
def test_nothing_is_good_without_a_stream(
    expression: str, stream: object, remedy: str, make_run: MakeRun
) -> None:
    """Where a condition is of one, and there was none, that is what to change."""
    run = make_run(facts={"stream": stream}, good=Good(0, 1000, 100.0))
    row = evaluate(Ruleset("r", "1", (parse(expression),)), run).rows[0]
    assert (row.status, row.remedy) == ("FAIL", remedy)
