"""Verdicts on runs as their logs have them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reporter.measured_run import measured
from reporter.report_options import ReportOptions
from rulesets.definitions import Definitions
from rulesets.demands import (
    AuditDemand,
    Baseline,
    DatasetDemand,
    GenerationDemand,
    LoadDemand,
    SteadyStateDemand,
    ValidityDemand,
)
from rulesets.evaluation import evaluate
from rulesets.expression import parse
from rulesets.report_evidence import ReportEvidence
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run

REQUESTS = 662
BY_LOADGEN = Definitions(
    percentile_method="loadgen_floor", latency_origin="scheduled", failed_requests="count_as_violation"
)


class Words:
    """A tokenizer whose tokens are words."""

    def encode(self, text: str) -> list[str]:
        """Split a text."""
        return text.split()


@pytest.fixture(scope="module")
def folder(a_run: Callable[..., Run]) -> Path:
    """A log of 662 requests, one every 10 ms: TTFT 40 ms, issued 5 ms late, the last one failed."""
    run = a_run(kind="poisson", rate=100.0)
    run.settings |= {
        "seed": 11,
        "temperature": 0,
        "max_tokens": 3,
        "dataset": {"name": "d.jsonl", "rows": 331, "sha256": "", "synthetic": False},
    }
    for number in range(REQUESTS):
        at_ms = 10.0 * number + 5
        if number == REQUESTS - 1:
            run.fails(at_ms=at_ms, failed=at_ms + 10)
        else:
            issue = {"scheduled": at_ms - 5, "about": {"tags": {"kind": "odd" if number % 2 else "even"}}}
            run.answers(
                at_ms + 40,
                at_ms + 60,
                at_ms + 80,
                at_ms=at_ms,
                usage=(7, 3),
                issue=issue,
                texts={"output": "a b"},
            )
    return run.stops(7000).ends(7100).write()


def statuses(folder: Path, ruleset: Ruleset) -> dict[str, tuple[str, float | None]]:
    """Each rule's status and figure."""
    with measured(folder, ruleset.definitions) as (_, evidence):
        verdict = evaluate(ruleset, evidence)
    plain = verdict.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    return {row.id: (row.status, row.observed) for row in verdict.rows}


def test_targets_are_judged_by_the_definitions(folder: Path) -> None:
    """From the scheduled time, a failed request over every bound: one is allowed in the test, none else."""
    rules = (
        *("ttft:p(99)<50ms@es99", "ttft:p(99)<50ms@es99-estimate", "ttft:p(99)<45ms", "ttft:max<1s"),
        *(
            "tpot:p(90)<=20ms@ucl95",
            "tps_per_user:p(90)>=50",
            "osl:mean<=3",
            "issued==662",
            "error<0.5%@ucl95",
        ),
        *("good(ttft<50ms,tpot<21ms):fraction>=0.995@lcl95", "qps>=90@lcl90", "ttft{kind:odd}:p(50)<=45ms"),
        "ttft{kind:none}:p(50)<=45ms",
    )
    rows = statuses(folder, Ruleset("r", "1", tuple(map(parse, rules)), definitions=BY_LOADGEN))
    assert [rows[parse(rule).id][0] for rule in rules] == [
        *("PASS", "INCONCLUSIVE", "FAIL", "FAIL"),
        *("PASS", "PASS", "PASS", "PASS", "INCONCLUSIVE"),
        *("INCONCLUSIVE", "PASS", "PASS"),
        "FAIL",
    ]
    assert rows[parse(rules[0]).id][1] == pytest.approx(45.0)


def test_the_run_itself_is_judged_by_its_settings(folder: Path) -> None:
    """Load, dataset, seeds, settings, length, passes: each as the log tells it."""
    ruleset = Ruleset(
        "r",
        "1",
        (),
        validity=ValidityDemand(0.01, 600, 7.5, dataset_multiple=True, min_passes=2, streaming="required"),
        load=LoadDemand("poisson", rate=100.0),
        dataset=DatasetDemand(perf_samples=331),
        generation=GenerationDemand({"temperature": 0.0, "max_new_tokens": 3, "top_p": 1}, locked=True),
        seeds={"sample_index": 11, "schedule": 12},
        steady_state=SteadyStateDemand(max_drift=0.05),
    )
    status_of = {name: status for name, (status, _) in statuses(folder, ruleset).items()}
    assert {name for name, status in status_of.items() if status != "PASS"} == {
        "validity.min_duration_s",
        "generation.top_p",
        "seeds.schedule",
        "validity.streaming",
    }
    assert status_of["validity.streaming"] == "SKIP"


def test_tokens_that_are_counted_twice_are_compared(folder: Path) -> None:
    """The server says 3 a response, and the tokenizer counts 2."""
    definitions = replace(Definitions(), token_source="client_tokenizer")  # noqa: S106 (not a password)
    ruleset = Ruleset("r", "1", (), definitions=definitions, audits=(AuditDemand("token_count"),))
    with measured(folder, definitions, ReportOptions(tokenizer=Words())) as (report, evidence):
        (row,) = evaluate(ruleset, evidence).rows
    assert (report.tokens.usage_output, report.tokens.recounted_output) == (1983, 1322)
    assert (row.status, row.observed) == ("FAIL", 0.5)
    assert row.reason == "the server counts 1,983 output tokens, the tokenizer 1,322"


@pytest.mark.slow
def test_a_recount_leaves_the_figures_alone(folder: Path) -> None:
    """They are by the server's counts; the tokenizer's count is in its own field."""
    with measured(folder, Definitions(), ReportOptions(tokenizer=Words(), recount=True)) as (report, _):
        assert (report.tokens.usage_output, report.tokens.recounted_output) == (1983, 1322)
        assert report.tokens.output == 1983
        assert report.tokens.source == "server_usage"
    with measured(folder, Definitions(), ReportOptions(tokenizer=Words())) as (report, _):
        assert report.tokens.recounted_output is None


def test_a_report_says_what_its_log_says(folder: Path) -> None:
    """Where the report alone can answer it gives the verdict that the log gives."""
    rules = ("ttft:p(99)<45ms", "ttft:mean<=40ms", "qps>=90", "error<1%", "tpot:max<=20ms", "osl:p(50)<=3")
    ruleset = Ruleset("r", "1", tuple(map(parse, rules)), validity=ValidityDemand(0.01, 600, 5.0))
    with measured(folder, ruleset.definitions) as (report, evidence):
        assert evaluate(ruleset, ReportEvidence(report.to_dict())).rows == evaluate(ruleset, evidence).rows


def test_a_run_does_not_change_from_itself(folder: Path) -> None:
    """Five times the same on each side: no test finds a difference."""
    with measured(folder, Definitions()) as (_, run):
        for test in ("mann_whitney", "bootstrap", "tost"):
            metrics = {"tps": "higher", "ttft.p95": "lower"}
            ruleset = Ruleset("r", "1", (), baseline=Baseline(test=test, metrics=metrics))  # type: ignore[arg-type]  # as a file says it
            rows = evaluate(ruleset, run, others=[run] * 4, baseline=[run] * 5).rows
            assert [(row.status, row.observed) for row in rows] == [("PASS", 0.0)] * 2
