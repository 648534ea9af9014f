"""Whether the targets of a run hold at the moment: those that the live figures have a figure for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reporter.json_values import members
from reporter.live.current_figures import LiveTarget
from rulesets.errors import RulesetError
from rulesets.quantity import COMPARE
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.live.current_figures import LiveFigures
    from rulesets.target import Target


def targets_of(settings: Mapping[str, Any]) -> tuple[Target, ...]:
    """The targets that a run was started with; none where the log has none that can be read."""
    try:
        return Ruleset.of_dict(members(settings.get("ruleset"))).targets
    except RulesetError:
        return ()


def targets_now(targets: Sequence[Target], shown: LiveFigures) -> tuple[LiveTarget, ...]:
    """Each target with its figure: latencies and rates of the last seconds, errors since the phase began."""
    return tuple(_target_now(target, shown) for target in targets if not target.is_only_shown)


def _target_now(target: Target, shown: LiveFigures) -> LiveTarget:
    figure = None if target.where or target.delta else _figure(target, shown)
    if figure is None:
        return LiveTarget(target.id)
    return LiveTarget(
        target.id, target.in_unit(figure), target.unit, COMPARE[target.op](figure, target.bound)
    )


def _figure(target: Target, shown: LiveFigures) -> float | None:
    match target.metric:
        case "ttft":
            return getattr(shown.ttft, target.stat, None)
        case "tpot":
            return getattr(shown.tpot, target.stat, None)
        case "output_tps":
            return shown.output_tps
        case "error" if target.stat == "rate" and shown.ended:
            return shown.errors.total() / shown.ended
        case _:
            return None
