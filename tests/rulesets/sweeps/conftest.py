"""Points of sweeps, made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from rulesets.evaluators.rule_row import VerdictRow, margin
from rulesets.sweeps import Point
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = "llama"
DATASET = {"name": "questions", "sha256": "ab" * 32}


def _row(
    row_id: str,
    status: str,
    observed: float | None = None,
    group: str = "target",
    bound: float | None = None,
) -> VerdictRow:
    return VerdictRow(
        id=row_id,
        target=row_id,
        observed=observed,
        bound=bound,
        unit="",
        n=1,
        status=status,  # type: ignore[arg-type]  # a status as text
        severity="fail",
        margin=margin(observed, bound, met=status == "PASS"),
        reason="",
        group=group,  # type: ignore[arg-type]  # a group as text
    )


def _verdict(status: str, *rows: VerdictRow) -> Verdict:
    return Verdict(status, "house", "1", rows=rows)  # type: ignore[arg-type]  # a status as text


@pytest.fixture
def judged() -> Callable[..., Verdict]:
    """Make the verdict on one run: its status, what its accuracy became, and its tps_per_user."""

    def make(
        status: str = "PASS",
        *,
        accuracy: str | None = None,
        tps_per_user: float | None = None,
        score: float | None = None,
        least: float = 0.0,
        limit: float | None = None,
    ) -> Verdict:
        rows = [] if accuracy is None else [_row("accuracy.ROUGE1", accuracy, 40.0, "accuracy")]
        if score is not None:
            met = "PASS" if score >= least else "FAIL"
            rows.append(_row("accuracy.ROUGE1", met, score, "accuracy", least))
        if score is not None and limit is not None:
            met = "PASS" if score <= limit else "FAIL"
            rows.append(_row("accuracy.ROUGE1.max", met, score, "accuracy", limit))
        if tps_per_user is not None:
            rows.append(_row("tps_per_user:p(90)>=0tok/s!info", "PASS", tps_per_user))
        return _verdict(status, *rows)

    return make


@pytest.fixture
def point() -> Callable[..., Point]:
    """Make a point from its figures."""

    def make(
        concurrency: int | None,
        *,
        offline: bool = False,
        tps: float | None = 100.0,
        tpot: float | None = 20.0,
        gpus: int | None = None,
        rate: float | None = None,
        valid: bool = True,
        model: str = MODEL,
        dataset: dict[str, str] | None = None,
        verdict: Verdict | None = None,
    ) -> Point:
        tpot_ms = None if tpot is None else {"count": 10, "mean": tpot, "p50": tpot, "p90": tpot * 1.25}
        report: dict[str, Any] = {
            "run": {"model": model, "dataset": dataset or DATASET, "load": {"rate": rate}},
            "validity": {"valid": valid, "reasons": []},
            "throughput": {"qps": 1.0, "output_tps": tps, "total_tps": None if tps is None else 3 * tps},
            "tpot_ms": tpot_ms,
        }
        if gpus is not None:
            report["run"]["gpus"] = gpus
        return Point(concurrency, offline, report, verdict)

    return make


@pytest.fixture
def curve(point: Callable[..., Point]) -> list[Point]:
    """Make seven points in all four regions of C_max 1024 and C_min 8."""
    return [point(concurrency) for concurrency in (8, 16, 64, 128, 256, 512, 1024)]
