"""Every metric is explained, and its other names are listed."""

from __future__ import annotations

from loadgen.sessions.vocabulary import metrics
from rulesets.meanings import MEANINGS
from rulesets.quantity import METRIC_ALIASES, METRICS


def test_every_metric_has_a_meaning() -> None:
    """And nothing else has one."""
    assert list(MEANINGS) == list(METRICS)


def test_metrics_are_listed_with_what_they_are() -> None:
    """A phrase, the units, the aliases."""
    listed = metrics()
    assert listed["ttfo"].startswith("time to first output token: the first that is not reasoning; ")
    assert "ms" in listed["ttfo"]
    for alias, metric in METRIC_ALIASES.items():
        assert f"also called {alias}" in listed[metric]
