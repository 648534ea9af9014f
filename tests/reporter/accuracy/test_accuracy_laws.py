"""Laws of scores: what DuckDB adds up is what the formulas say of the values one by one."""

from __future__ import annotations

import math
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.accuracy.mean import VALUE
from reporter.accuracy.repeated import all_of, any_of, pass_figures
from reporter.accuracy.score_rows import attempts
from reporter.accuracy.spread import spread
from reporter.log.database import OpenLog
from reporter.report import Window
from rulesets.statistics import clustered, wilson

if TYPE_CHECKING:
    from collections.abc import Iterator

BINARY = st.sampled_from([0.0, 1.0])
VALUES = st.one_of(BINARY, st.floats(-5, 5).map(lambda value: round(value, 3)))
CLUSTERS = st.lists(st.lists(VALUES, min_size=1, max_size=5), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def log() -> Iterator[OpenLog]:
    """A table of scores to fill."""
    with duckdb.connect() as made:
        made.execute("CREATE TABLE graded (entry INTEGER, prompt_id INTEGER, value DOUBLE)")
        window = Window("requests", None, None, None)
        yield OpenLog(run=Path(), database=made, connection=made, window=window, requests=0)


def fill(log: OpenLog, clusters: list[list[float]]) -> None:
    """The values of questions."""
    log.execute("DELETE FROM graded")
    rows = [(0, question, value) for question, values in enumerate(clusters) for value in values]
    log.connection.executemany("INSERT INTO graded VALUES (?, ?, ?)", rows)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(CLUSTERS)
def test_the_standard_error_is_the_formulas(log: OpenLog, clusters: list[list[float]]) -> None:
    """Clustered by question; the plain one where none is repeated; and the interval holds the mean."""
    fill(log, clusters)
    (result,) = spread(log, 0, VALUE)
    values = list(chain.from_iterable(clusters))
    assert result.mean == pytest.approx(math.fsum(values) / len(values))
    error = clustered.standard_error(clusters, "corrected")
    assert result.standard_error == (None if error is None else pytest.approx(error, abs=1e-7))
    if max(map(len, clusters)) == 1:
        assert result.standard_error == (
            None if error is None else pytest.approx(clustered.plain(values), abs=1e-7)
        )
    if (interval := result.interval) is not None:
        assert interval.low - 1e-12 <= result.mean <= interval.high + 1e-12
    if result.effective is not None:
        assert 1 <= result.effective <= len(values)


@settings(max_examples=30, deadline=None)
@given(st.lists(BINARY, min_size=1, max_size=30))
def test_once_a_question_it_is_wilsons(log: OpenLog, values: list[float]) -> None:
    """Whatever the share is, also 0 and 1."""
    fill(log, [[value] for value in values])
    (result,) = spread(log, 0, VALUE)
    assert result.interval is not None
    assert result.interval.method == "wilson"
    assert (result.interval.low, result.interval.high) == wilson.interval(
        sum(map(int, values)), len(values), 0.95
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(BINARY, min_size=1, max_size=12), min_size=1, max_size=8))
def test_pass_at_k_is_the_mean_of_the_estimators(log: OpenLog, clusters: list[list[float]]) -> None:
    """Over the questions with k attempts or more; the others are counted."""
    fill(log, clusters)
    at_k, hat, excluded = pass_figures(attempts(log, 0, 1.0))
    attempts_most = max(map(len, clusters))
    assert (str(attempts_most) in at_k) == (attempts_most > 1)
    for k in map(int, at_k):
        having = [(len(cluster), int(sum(cluster))) for cluster in clusters if len(cluster) >= k]
        assert excluded[str(k)] == len(clusters) - len(having)
        assert at_k[str(k)] == pytest.approx(sum(any_of(n, c, k) for n, c in having) / len(having))
        assert hat[str(k)] == pytest.approx(sum(all_of(n, c, k) for n, c in having) / len(having))
