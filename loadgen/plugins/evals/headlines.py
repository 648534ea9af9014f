"""Headlines that many benchmarks have: the score by tag, and the mean of a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def score_of(tag: str, value: object) -> str:
    """The mean score of the samples with a tag's value, as SQL."""
    return f"avg(value) FILTER (tags['{tag}'] = '{value}')"


def by_tag(tag: str, values: Iterable[object], prefix: str = "") -> Iterator[Headline]:
    """The mean score of the samples with each value of a tag."""
    return (Headline(f"{prefix}{value}", score_of(tag, value)) for value in values)


def metric_shares(*metrics: str) -> Iterator[Headline]:
    """The sum of each metric over the number of samples."""
    return (Headline(name, f"coalesce(sum(metrics['{name}']), 0) / count(*)") for name in metrics)


def metric_means(*metrics: str) -> Iterator[Headline]:
    """The mean of each metric, 0 where a sample has none."""
    return (Headline(name, f"avg(coalesce(metrics['{name}'], 0))") for name in metrics)
