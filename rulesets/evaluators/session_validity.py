"""The conditions on the sessions of a run: how many, how much of the run they fill, and how they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.evaluators.demand import bounded
from rulesets.evaluators.rule_row import RuleOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulesets.evaluators.rule_row import Case


def _min_sessions(bound: int, case: Case) -> RuleOutcome:
    count, begun = _completed(case), _begun(case)
    return bounded("the number of completed sessions", count, ">=", bound, n=begun, remedy=_LONGER)


def _min_sessions_per_concurrency(bound: int, case: Case) -> RuleOutcome:
    places = facts.concurrency(case.report)
    if places is None:
        return RuleOutcome("SKIP", reason="the load is not a closed loop, and has no concurrency")
    count = _completed(case)
    return bounded(
        f"the number of completed sessions for each of {places:,} in flight",
        None if count is None else count / places,
        ">=",
        bound,
        n=_begun(case),
        remedy=_LONGER,
    )


def _min_coverage(bound: float, case: Case) -> RuleOutcome:
    """The time from the start to the last TTFT, and to the last request with ITL, as shares of the duration.

    As AgentX counts them (agentx-harness 1.0.12, `insufficient_profile_metric_coverage`).
    """
    sessions = _sessions(case)
    shares = {name: facts.number(sessions.get(f"{name.lower()}_coverage")) for name in ("TTFT", "ITL")}
    lowest = min(shares, key=lambda name: -1.0 if shares[name] is None else shares[name] or 0.0)
    return bounded(
        f"the share of the duration up to the last {lowest}",
        shares[lowest],
        ">=",
        bound,
        n=_begun(case),
        remedy="see why no request was answered near the end: loadgen view RUN; give a --duration",
    )


def _max_context_overflow_rate(bound: float, case: Case) -> RuleOutcome:
    """The sessions that a prompt without room in the model's context ended, relative to all answers."""
    ended = facts.count(case.report, "completed") + facts.count(case.report, "failed")
    sessions = _sessions(case)
    overflows = facts.number(facts.section(sessions, "endings").get("context_overflow")) or 0
    return bounded(
        "the share of answers that say that the context is too long",
        overflows / ended if sessions and ended else None,
        "<=",
        bound,
        n=ended,
        remedy="serve a longer context, or leave the sessions out that do not fit",
    )


def _sessions(case: Case) -> Mapping[str, Any]:
    return facts.section(case.report, "sessions")


def _completed(case: Case) -> int | None:
    sessions = _sessions(case)
    return int(facts.number(facts.section(sessions, "endings").get("completed")) or 0) if sessions else None


def _begun(case: Case) -> int:
    return int(facts.number(_sessions(case).get("count")) or 0)


_LONGER: Final = "run for longer: --duration TIME, or with more --sessions"

EVALUATE: Final[Mapping[str, Callable[[Any, Case], RuleOutcome]]] = {
    "min_sessions": _min_sessions,
    "min_sessions_per_concurrency": _min_sessions_per_concurrency,
    "min_coverage": _min_coverage,
    "max_context_overflow_rate": _max_context_overflow_rate,
}
"""By the keys of `validity`."""
