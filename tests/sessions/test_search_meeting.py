"""What a trial of a search says where chunks were read late: what only they could decide is unclear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.run.report import make_report
from loadgen.sessions.series.search.meeting import judge
from loadgen.sessions.series.search.requirements import required_of
from rulesets.ruleset import of_expressions
from tests.reporter.conftest import Run
from tests.reporter.test_doubtful_stamps import delayed

if TYPE_CHECKING:
    from pathlib import Path


def verdict(folder: Path, rule: str, own_ms: float, low_ms: float) -> tuple[str, str]:
    """What 200 requests say of a rule: first tokens after 100 ms, or as early as `low_ms`."""
    run = Run(folder).begins()
    run.settings |= {"load": {"kind": "constant", "rate": 5.0}, "ruleset": of_expressions([rule]).to_dict()}
    log = delayed(run, own_ms, low_ms).write()
    found, why = judge(required_of([rule], None), make_report(log, None), log)
    return str(found), why


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("ttft:p(50)<200ms", "met"),
        ("ttft:p(50)<90ms", "unclear"),
        ("ttft:p(50)<50ms", "missed"),
        ("ttft:mean<200ms", "met"),
        ("ttft:mean<90ms", "unclear"),
        ("ttft:mean<50ms", "missed"),
        ("ttft:max<90ms", "unclear"),
        ("good(ttft<90ms):fraction>50%", "unclear"),
        ("good(ttft<50ms):fraction>50%", "missed"),
        ("error<5%", "met"),
    ],
)
def test_what_late_reads_can_decide_is_unclear(tmp_path: Path, rule: str, expected: str) -> None:
    """As it is inconclusive for a gate."""
    found, why = verdict(tmp_path, rule, 0.0, 60.0)
    assert found == expected
    assert ("chunks were read late" in why) is (expected == "unclear")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("ttft:p(50)<105ms", "unclear"), ("ttft:p(50)<109ms", "met"), ("ttft:p(50)<45ms", "missed")],
)
def test_so_is_what_the_client_s_own_delay_can_decide(tmp_path: Path, rule: str, expected: str) -> None:
    """8 ms of 100 ms are not too much of it, and of 60 ms they are."""
    assert verdict(tmp_path, rule, 8.0, 60.0)[0] == expected
