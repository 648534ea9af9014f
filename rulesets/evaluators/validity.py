"""The conditions for a run to represent the server: length, completeness, error rate."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from rulesets.demands import OF_SESSIONS
from rulesets.evaluators import facts, figure
from rulesets.evaluators.demand import bounded, same
from rulesets.evaluators.rule_row import Rule, RuleOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

_LUCK: Final = 4.0
"""Standard deviations of a Poisson process that there may be fewer arrivals than expected."""


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each key of `validity` that is set."""
    for key, (evaluate, unit) in _KEYS.items():
        wanted = getattr(ruleset.validity, key)
        if wanted is None or wanted is False or wanted == "any":
            continue
        yield Rule(
            id=f"validity.{key}",
            kind=f"validity.{key}",
            group="validity",
            text=f"{key}: {_text(wanted)}",
            evaluate=lambda case, evaluate=evaluate, wanted=wanted: evaluate(wanted, case),  # type: ignore[misc]
            bound=None if isinstance(wanted, bool | str) else wanted,
            unit=unit,
            severity="warn" if key in ruleset.validity.warn else "fail",
        )


def _text(wanted: Any) -> str:
    if isinstance(wanted, bool):
        return "yes"
    return f"{wanted:g}" if isinstance(wanted, float) else str(wanted)


def _max_error_rate(bound: float, case: Case) -> RuleOutcome:
    rate, ended = figure.error_rate(case.run.counts(()))
    return bounded("the error rate", rate, "<=", bound, n=ended, remedy="see what failed: loadgen report RUN")


def _min_samples(bound: int, case: Case) -> RuleOutcome:
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    issued = facts.count(case.report, "issued")
    completed = facts.count(case.report, "completed") if issued else None
    return bounded(
        "the number of completed requests",
        completed,
        ">=",
        bound,
        n=issued,
        remedy=f"ask more: --requests {bound}",
    )


def _min_duration_s(bound: float, case: Case) -> RuleOutcome:
    """The span of issuing; of an offline run, the time until all was answered.

    As in MLPerf LoadGen: the time the last query was due, and for Offline the longest latency. Where rates
    are of the steady state, it is that which must last.
    """
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    window = facts.section(case.report, "window")
    issuing = facts.number(window.get("issuing_s"))
    whole = issuing is None or facts.is_offline(case.report) or window.get("kind") == "steady_state"
    return bounded(
        "the window" if whole else "the span of issuing",
        facts.number(window.get("duration_s")) if whole else issuing,
        ">=",
        bound,
        unit="s",
        n=facts.count(case.report, "issued"),
        remedy=_longer(bound, case),
    )


def _longer(bound: float, case: Case) -> str:
    """Where a number of requests ends a run, a longer duration alone changes nothing."""
    report, validity = case.report, case.ruleset.validity
    if facts.is_offline(report):
        return f"ask more at once, so that it takes {bound:g} s: --requests N"
    if validity.dataset_multiple or validity.min_passes:
        return f"ask more whole passes, so that it takes {bound:g} s: --requests {_for(bound, case)}"
    further = ", without --requests" if facts.section(report, "window").get("kind") == "requests" else ""
    return f"run for {bound:g} s: --duration {bound:g}{further}"


def _for(seconds: float, case: Case) -> str:
    """The requests of the whole passes that an open loop needs for this long, for any arrival process."""
    rate, rows = facts.number(facts.load(case.report).get("rate")), _rows(case)
    if not rate or not rows:
        return "N"
    expected = rate * seconds
    return str(math.ceil((expected + _LUCK * math.sqrt(expected)) / rows) * rows)


def _dataset_multiple(_wanted: bool, case: Case) -> RuleOutcome:  # noqa: FBT001 (every rule of the validity is called alike)
    (issued, what), rows = _asked(case), _rows(case)
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    if rows is None:
        return _no_rows(issued)
    if issued and issued % rows == 0:
        return RuleOutcome("PASS", issued / rows, issued, f"passes over {rows:,} rows")
    wanted = max(1, math.ceil(issued / rows)) * rows
    return RuleOutcome(
        "INVALID",
        issued / rows,
        issued,
        f"passes over {rows:,} rows",
        reason=f"{issued:,} {what} are not whole passes over {rows:,} rows",
        remedy=f"ask whole passes: --{what} {wanted}",
    )


def _asked(case: Case) -> tuple[int, str]:
    """How many rows of the dataset were asked, and what a row is: of conversations, each is a session."""
    sessions = facts.number(facts.section(case.report, "sessions").get("count"))
    return (int(sessions), "sessions") if sessions else (facts.count(case.report, "issued"), "requests")


def _min_passes(bound: int, case: Case) -> RuleOutcome:
    (issued, what), rows = _asked(case), _rows(case)
    if facts.was_cut_short(case.report):
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    if rows is None:
        return _no_rows(issued)
    return bounded(
        f"the number of passes over {rows:,} rows",
        issued / rows,
        ">=",
        bound,
        n=issued,
        remedy=f"ask more: --{what} {bound * rows}",
    )


def _rows(case: Case) -> int | None:
    return case.ruleset.dataset.perf_samples or facts.rows(case.report)


def _no_rows(issued: int) -> RuleOutcome:
    return RuleOutcome(
        "INVALID",
        n=issued,
        reason="the run does not say how many rows its dataset has",
        remedy="ask from a file: --prompts FILE",
    )


def _streaming(_wanted: str, case: Case) -> RuleOutcome:
    is_streamed = facts.run(case.report).get("stream")
    if is_streamed is None:
        return RuleOutcome("SKIP", reason="the run does not say whether answers were streamed")
    return same("whether answers are streamed", is_streamed, wanted=True, remedy="leave --no-stream out")


def _min_samples_per_concurrency(bound: int, case: Case) -> RuleOutcome:
    return _per_concurrency("completed", bound, case, "ask more: --requests {}")


def _warmup_per_concurrency(bound: int, case: Case) -> RuleOutcome:
    return _per_concurrency("warmup", bound, case, "warm up: --warmup {}")


def _per_concurrency(key: str, bound: int, case: Case, remedy: str) -> RuleOutcome:
    places = facts.concurrency(case.report)
    if places is None:
        return RuleOutcome("SKIP", reason="the load is not a closed loop, and has no concurrency")
    if facts.was_cut_short(case.report) and key == "completed":
        return RuleOutcome("SKIP", reason=facts.CUT_SHORT)
    counted = facts.count(case.report, key)
    return bounded(
        f"the number of {_COUNTED[key]} for each of {places:,} in flight",
        counted / places,
        ">=",
        bound,
        n=counted,
        remedy=remedy.format(bound * places),
    )


def _of_sessions(key: str, bound: Any, case: Case) -> RuleOutcome:
    from rulesets.evaluators.session_validity import EVALUATE

    return EVALUATE[key](bound, case)


_COUNTED: Final = {"completed": "completed requests", "warmup": "warm-up requests"}

_KEYS: Final[Mapping[str, tuple[Callable[[Any, Case], RuleOutcome], str]]] = {
    "max_error_rate": (_max_error_rate, ""),
    "min_samples": (_min_samples, ""),
    "min_duration_s": (_min_duration_s, "s"),
    "dataset_multiple": (_dataset_multiple, ""),
    "min_passes": (_min_passes, ""),
    "streaming": (_streaming, ""),
    "min_samples_per_concurrency": (_min_samples_per_concurrency, ""),
    "warmup_per_concurrency": (_warmup_per_concurrency, ""),
    **{key: (partial(_of_sessions, key), "") for key in OF_SESSIONS},
}
"""How each key is evaluated, and its unit."""

KINDS: Final = tuple(f"validity.{key}" for key in _KEYS)
