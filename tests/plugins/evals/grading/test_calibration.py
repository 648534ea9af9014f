"""The calibration error of Humanity's Last Exam, as a DuckDB aggregate."""

from __future__ import annotations

import duckdb
import pytest

from loadgen.plugins.evals.tasks.hle import CALIBRATION_ERROR, CALIBRATION_ERROR_OF_ALL

_QUERY = f"""
    WITH told AS (
        SELECT
            generate_subscripts($values::DOUBLE[], 1) AS prompt_id,
            1 AS attempt,
            unnest($values::DOUBLE[]) AS value,
            unnest($confidences::DOUBLE[]) AS confidence
    ),
    scores AS (
        SELECT
            *,
            CASE WHEN confidence IS NULL THEN MAP {{}} ELSE MAP {{'confidence': confidence}} END AS metrics
        FROM told
    )
    SELECT {CALIBRATION_ERROR.sql}, {CALIBRATION_ERROR_OF_ALL.sql} FROM scores"""  # noqa: S608 (our own)


def errors(rows: list[tuple[float | None, float]]) -> tuple[float | None, ...]:
    """As published, and over all bins; of a confidence and a value for each answer."""
    payload = {"values": [value for _, value in rows], "confidences": [confidence for confidence, _ in rows]}
    return tuple(duckdb.connect().execute(_QUERY, payload).fetchall()[0])


def part(confidence: float, right: int, count: int = 100) -> list[tuple[float | None, float]]:
    """How many answers of one confidence, of which some are right."""
    return [(confidence, float(number < right)) for number in range(count)]


def test_bins_of_a_hundred_in_the_order_of_confidence() -> None:
    """Differences of .2, .1 and .5 in three bins: as published, the last one is missing."""
    rows = part(0.9, 40) + part(0.2, 40) + part(0.5, 60)
    published, all_bins = errors(rows)
    assert published == pytest.approx(((0.2**2 + 0.1**2) / 3) ** 0.5)
    assert all_bins == pytest.approx(((0.2**2 + 0.1**2 + 0.5**2) / 3) ** 0.5)


def test_the_last_bin_takes_what_is_left_over() -> None:
    """Of 250 answers the second bin has 150."""
    published, all_bins = errors(part(0.2, 20) + part(0.8, 60, 150))
    assert published == pytest.approx(0.0)
    assert all_bins == pytest.approx((150 / 250 * 0.4**2) ** 0.5)


@pytest.mark.parametrize(("count", "published"), [(0, None), (99, None), (100, 0.0), (199, 0.0)])
def test_few_answers_have_no_calibration(count: int, published: float | None) -> None:
    """Below a hundred the published code fails; with one bin it leaves that out."""
    assert errors(part(0.5, 10, count))[0] == published


def test_answers_that_were_not_judged_have_no_part_in_it() -> None:
    """An answer without a confidence is in no bin."""
    judged = part(0.3, 30) + part(0.6, 70)
    assert errors(judged + [(None, 0.0)] * 50) == errors(judged)


def test_equal_confidences_stay_in_the_order_of_the_questions() -> None:
    """So the figure is the same every time: the first hundred of 200 equal ones are the first bin."""
    assert errors(part(0.5, 100) + part(0.5, 0))[0] == pytest.approx((0.5**2 / 2) ** 0.5)
