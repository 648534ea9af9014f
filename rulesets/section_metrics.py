"""The metrics of a report's plug-in sections: a part of `rulesets.metric_table`."""

from __future__ import annotations

from typing import Final

from rulesets.quantity import LEVEL, SHARE_LEVEL, MetricDefinition

SECTION_FIGURES: Final = {
    "spec_acceptance_length": ("speculation", "acceptance_length", "steps"),
    "spec_acceptance_rate": ("speculation", "acceptance_rate", "drafted_tokens"),
}
"""The section of a report that has a metric, and its figures there: the value, and the count behind it."""

SECTION_METRICS: Final = tuple(
    MetricDefinition(name=name, quantity=quantity, meaning=meaning, per="run")
    for name, quantity, meaning in (
        (
            "spec_acceptance_length",
            LEVEL,
            "tokens per step of speculative decoding: 1 + accepted / steps",
        ),
        ("spec_acceptance_rate", SHARE_LEVEL, "share of draft tokens that were accepted"),
    )
)
