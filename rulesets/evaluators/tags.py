"""What to do where a rule is about requests that the run has none of: mostly a tag is misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.nearest import listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Where

_NO_TAGS: Final = frozenset({"phase", "stage", "time"})
"""What a report breaks requests down by, and rules do not."""
_OWN: Final = ("endpoint", "turn")
"""What every request can be told apart by; a report leaves out what there is only one of."""


def remedy(where: Where, report: Mapping[str, Any]) -> str:
    """Name the nearest tag or value for the first that the run does not have, else say what to ask.

    Args:
        where: The tags that a rule names.
        report: Of the run: its `breakdown` has the tags that requests were given, and their values.
    """
    known = {name: rows for name, rows in facts.section(report, "breakdown").items() if name not in _NO_TAGS}
    for tag, value in where:
        if tag in known:
            values = [row.get("value") for row in known[tag]]
            if value not in values and all(row.get("values") == 1 for row in known[tag]):
                return f"no request has {tag}:{value}; {suggestion(value, filter(None, values))}"
        elif tag not in _OWN:
            return f"no request has the tag {tag!r}; {_which(tag, known)}"
    pairs = listing((f"{tag}:{value}" for tag, value in where), last="and")
    return f"ask something that is tagged {pairs}"


def _which(tag: str, known: Mapping[str, Any]) -> str:
    return (
        suggestion(tag, known) if known else "the run has no tags: a dataset gives them (docs/workloads.md)"
    )
