"""`loadgen list metrics`: what each metric is, its units and its other names."""

from __future__ import annotations

from loadgen.sessions.vocabulary import metrics
from rulesets.quantity import METRIC_ALIASES


def test_metrics_are_listed_with_what_they_are() -> None:
    """A phrase, the units, the aliases."""
    listed = metrics()
    assert listed["ttfo"].startswith("time to first output token: the first that is not reasoning; ")
    assert "ms" in listed["ttfo"]
    for alias, metric in METRIC_ALIASES.items():
        assert f"also called {alias}" in listed[metric]
