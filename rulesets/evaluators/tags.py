"""The remedy where a rule is about requests that the run does not have: mostly a tag is misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import listing, suggestion
from rulesets.evaluators import facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Where

_NO_TAGS: Final = frozenset({"phase", "stage", "time"})
"""What a report breaks requests down by, and rules do not."""
_OWN: Final = ("endpoint", "turn")
"""The tags of every request; a report leaves out those with a single value."""


def remedy(where: Where, report: Mapping[str, Any]) -> str:
    """Name the nearest tag or value for the first tag that the run lacks, else the requests to issue.

    Args:
        where: The tags that a rule names.
        report: Of the run: its `breakdown` has the tags that requests were given, and their values.
    """
    tags = {name: rows for name, rows in facts.section(report, "breakdown").items() if name not in _NO_TAGS}
    for tag, value in where:
        if tag in tags:
            values = [row.get("value") for row in tags[tag]]
            if value not in values and all(row.get("values") == 1 for row in tags[tag]):
                return f"no request has {tag}:{value}; {suggestion(value, filter(None, values))}"
        elif tag not in _OWN:
            return f"no request has the tag {tag!r}; {_which(tag, tags)}"
    pairs = listing((f"{tag}:{value}" for tag, value in where), last="and")
    return f"ask something that is tagged {pairs}"


def _which(tag: str, tags: Mapping[str, Any]) -> str:
    return suggestion(tag, tags) if tags else "the run has no tags: a dataset gives them (docs/workloads.md)"
