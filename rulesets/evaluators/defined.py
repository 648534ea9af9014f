"""Whether figures were computed by the definitions that the rules name: others would be another figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.errors import Unanswerable
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import TOKEN_COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.definitions import Definitions
    from rulesets.quantity import Kind
    from rulesets.target import Target

_OF_A_KIND: Final[Mapping[Kind, tuple[str, ...]]] = {
    "latency": ("latency_origin", "failed_requests"),
    "length": TOKEN_COUNTS,
    "speed": TOKEN_COUNTS,
    "interactivity": (*BY_NAME["tpot"].depends_on, "failed_requests"),
    "throughput": ("throughput_window",),
    "good": ("latency_origin",),
}
"""The definitions that a kind of figure depends on; the table of metrics has those of a single one."""


def require(target: Target, wanted: Definitions, used: Definitions) -> None:
    """Check that a target's figure uses the definitions of the rules.

    Raises:
        Unanswerable: It is by others.
    """
    for name in _that_matter(target):
        asked, had = getattr(wanted, name), getattr(used, name)
        if asked != had:
            what = name.replace("_", " ")
            raise Unanswerable(
                f"the report was computed with {what} {_text(had)}, and the rules say {_text(asked)}",
                "evaluate the run's log, which any definition can be applied to",
            )


def _that_matter(target: Target) -> Iterator[str]:
    yield from _OF_A_KIND.get(target.quantity.kind, ())
    if target.percentile is not None:
        yield "percentile_method"
    if target.metric in BY_NAME:
        yield from BY_NAME[target.metric].depends_on


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "a chosen one" if value is None else str(value)
