"""The SQL of a run's cost, with the prices filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.costs import DOLLARS
from reporter.log.sql_files import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.report import Report

_RUN: Final = """\
SELECT sum(dollars) AS total, sum(dollars) FILTER (answered) AS measured,
    avg(dollars) FILTER (answered) AS per_request, count(dollars) FILTER (answered) AS priced
FROM (
    SELECT measured AND status = 'completed' AS answered, {dollars} AS dollars
    FROM samples
)"""

_TASKS: Final = """\
WITH dollars AS (
    SELECT task, sum({dollars}) AS total
    FROM samples JOIN questions USING (prompt_id)
    WHERE measured
    GROUP BY task
),

correct AS (
    SELECT scores.task, scores.scorer, count(*) FILTER (value >= passes_from) AS correct
    FROM scores
    JOIN (VALUES {scores}) AS headlines(task, scorer, pass, passes_from) USING (task, scorer, pass)
    GROUP BY ALL
)

SELECT task, scorer, total, correct, total / nullif(correct, 0) AS per_correct
FROM correct JOIN dollars USING (task)
ORDER BY ALL"""

_JUDGES: Final = """\
SELECT model, coalesce(sum(input_tokens), 0) * any_value(per_input) / 1e6
    + coalesce(sum(output_tokens), 0) * any_value(per_output) / 1e6 AS dollars
FROM judge_calls JOIN (VALUES {prices}) AS prices(model, per_input, per_output) USING (model)
GROUP BY model
ORDER BY model"""


def of_cost(report: Report) -> Iterator[tuple[str, str]]:
    """The labeled queries of a run's cost."""
    cost = report.cost
    if cost is None:
        return
    if cost.price is not None:
        dollars = _priced(cost.price)
        yield "The run", _RUN.format(dollars=dollars)
        scores = [
            f"({quoted(score.task)}, {quoted(score.scorer)}, {score.pass_}, {score.pass_threshold!r})"
            for score in report.accuracy
            if score.scorer is not None and score.pass_ is not None
        ]
        if cost.tasks and scores:
            yield "Benchmarks", _TASKS.format(dollars=dollars, scores=", ".join(scores))
    if cost.judges:
        prices = (
            f"({quoted(model)}, {price['input']!r}, {price['output']!r})"
            for model, price in cost.judges.items()
        )
        yield "Judges", _JUDGES.format(prices=", ".join(prices))


def _priced(price: Mapping[str, float]) -> str:
    """`DOLLARS` with the prices of a model."""
    text = DOLLARS
    for name in ("cached_input", "input", "output", "reasoning"):
        text = text.replace(f"${name}", repr(price[name]))
    return text
