"""From an opened log and a table of prices to the cost of the run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import counted
from reporter.values.cost import Cost, TaskCost

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.costs.prices import Price, PriceTable
    from reporter.log.database import OpenLog
    from reporter.values.task_score import TaskScore

TABLES: Final = ("scores", "judge_calls")
"""What has to be loaded of a log first, where its questions are those of benchmarks."""

DOLLARS: Final = """(
    input_tokens * $input
    + least(coalesce(cached_tokens, 0), input_tokens) * ($cached_input - $input)
    + output_tokens * $output
    + least(coalesce(reasoning_tokens, 0), output_tokens) * ($reasoning - $output)
) / 1e6"""
"""What a request costs, by the parameters that a `Price` has; NULL where its tokens are not known."""

_RUN: Final = f"""
    SELECT
        fsum(dollars),
        fsum(dollars) FILTER (answered),
        count(dollars) FILTER (answered),
        count(*) FILTER (answered AND dollars IS NULL),
        count(*) FILTER (answered AND token_source = 'chunks')
    FROM (
        SELECT {DOLLARS} AS dollars, measured AND status = 'completed' AS answered, token_source FROM samples
    )"""  # noqa: S608 (our own)

_TASKS: Final = f"""
    SELECT task, fsum({DOLLARS})
    FROM samples JOIN questions USING (prompt_id)
    WHERE measured
    GROUP BY task"""  # noqa: S608 (our own)

_CORRECT: Final = """
    SELECT count(*) FILTER (value >= ?) FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""

_JUDGES: Final = """
    SELECT
        coalesce(model, ''),
        sum(input_tokens),
        sum(output_tokens),
        count(*) FILTER (status = 'completed' AND (input_tokens IS NULL OR output_tokens IS NULL))
    FROM judge_calls
    GROUP BY ALL
    ORDER BY ALL"""


def cost(
    log: OpenLog,
    table: PriceTable,
    model: str,
    accuracy: Sequence[TaskScore],
    *,
    benchmarks: bool,
) -> Cost:
    """Compute the cost of a run.

    Args:
        log: An opened log, with `TABLES` where its questions are those of benchmarks.
        table: The prices.
        model: Of the run.
        accuracy: `accuracy` of the report, with the correct answers.
        benchmarks: Whether its questions are those of benchmarks.
    """
    judge, judges, of_judges = _judged(log, table) if benchmarks else (None, {}, [])
    price = table.of(model)
    if price is None:
        models = ", ".join(listed_price.model for listed_price in table.prices)
        note = f"{table.file} has no price for the model {model}; prices: {models}"
        return Cost(model, None, table.file, judge=judge, judges=judges, notes=[note, *of_judges])
    rates = _rates(price)
    total, measured, priced, unknown, chunks = log.execute(_RUN, rates).fetchall()[0]
    tasks = _tasks(log, rates, accuracy) if benchmarks else ()
    return Cost(
        model=model,
        price=asdict(price),
        table=table.file,
        total=total,
        measured=measured,
        per_request=measured / priced if priced else None,
        priced=priced,
        unknown=unknown,
        judge=judge,
        judges=judges,
        tasks=list(tasks),
        notes=[*_notes(unknown, chunks), *of_judges],
    )


def _rates(price: Price) -> dict[str, float]:
    """The parameters of the queries."""
    return {name: getattr(price, name) for name in ("input", "cached_input", "output", "reasoning")}


def _tasks(log: OpenLog, rates: Mapping[str, float], accuracy: Sequence[TaskScore]) -> Iterator[TaskCost]:
    totals: dict[str, float | None] = dict(log.execute(_TASKS, rates).fetchall())
    for score in accuracy:
        total, correct = totals.get(score.task), correct_answers(log, score)
        each = total / correct if total is not None and correct else None
        yield TaskCost(score.task, score.scorer, total, correct, each)


def correct_answers(log: OpenLog, score: TaskScore) -> int | None:
    """How many answers of a benchmark are correct; None where that is undetermined."""
    first = next(iter(score.headlines.values()))
    if score.pass_ is None or score.unscored or first.unit != "share":
        return None
    asked = [score.pass_threshold, score.pass_, score.task, score.scorer]
    correct: int = log.execute(_CORRECT, asked).fetchall()[0][0]
    return correct


def _judged(log: OpenLog, table: PriceTable) -> tuple[float | None, dict[str, dict[str, Any]], list[str]]:
    """The cost of judges, the price of each, and notes on those without a price or counts."""
    costs_of_judges: list[float] = []
    prices: dict[str, dict[str, Any]] = {}
    notes = []
    judges = log.execute(_JUDGES).fetchall()
    for model, input_tokens, output_tokens, unknown in judges:
        price = table.of(model)
        if price is None:
            notes.append(f"{table.file} has no price for the judge {model}")
            continue
        if unknown:
            notes.append(
                f"{counted(unknown, 'answer')} of the judge {model} without token counts: not in its cost"
            )
        prices[model] = asdict(price)
        costs_of_judges.append(_of_tokens(price, input_tokens or 0, output_tokens or 0))
    is_known = bool(judges) and len(costs_of_judges) == len(judges)
    return (sum(costs_of_judges) if is_known else None), prices, notes


def _of_tokens(price: Price, input_tokens: int, output_tokens: int) -> float:
    return (int(input_tokens) * price.input + int(output_tokens) * price.output) / 1e6


def _notes(unknown: int, chunks: int) -> Iterator[str]:
    if unknown:
        yield f"{counted(unknown, 'completed request')} without token counts: in no cost"
    if chunks:
        yield f"the cost of {chunks:,} requests is an estimate: output was counted in chunks"
