"""A limit of the client that ends before the run does: known before an offline run starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.driver.load import Offline, limit_of
from loadgen.driver.load_record import kind_of
from workloads.amounts import duration_text

if TYPE_CHECKING:
    from loadgen.driver.plan import Plan
    from rulesets.ruleset import Ruleset


def cut_backlog(plan: Plan, rules: Ruleset | None) -> str | None:
    """Warn of a limit on each request that ends inside an offline run; None where no such limit is known.

    Args:
        plan: The plan.
        rules: The rules of the run; they may demand a duration.
    """
    if not isinstance(plan.load, Offline):
        return None
    # Other loads start without these modules of the reporter.
    from reporter.findings.client_timeouts import OPTIONS, round_up, waits_together

    lasts_s = plan.duration_s or 0.0
    if rules is not None:
        lasts_s = max(lasts_s, rules.validity.min_duration_s or 0.0)
    limits = plan.timeouts.by_option()
    inside = {
        option: limit_s
        for option in OPTIONS.values()
        if (limit_s := limits[option]) is not None and limit_s <= lasts_s
    }
    if not inside or not waits_together(kind_of(plan.load), limit_of(plan.load), plan.count):
        return None
    limit = " and ".join(f"{option} {duration_text(limit_s)}" for option, limit_s in inside.items())
    longer = " ".join(f"{option} {duration_text(round_up(2 * lasts_s))}" for option in inside)
    return (
        f"{limit} ends before the run does: with --offline every request waits from the start, and the run "
        f"is to last {duration_text(lasts_s)} or longer. Requests that the limit ends make the run invalid; "
        f"give a longer one: {longer}"
    )
