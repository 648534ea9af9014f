"""The cost of a run in dollars, by a table of prices per million tokens of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from reporter.errors import PriceError
from reporter.number_text import counted
from reporter.values.cost import Cost, TaskCost
from rulesets.errors import RulesetFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.values.task_score import TaskScore
    from rulesets.document import DocumentPart

SCHEMA: Final = "prices/1"

_KEYS: Final = ("schema", "source", "date", "models")
_RATES: Final = ("input", "cached_input", "output", "reasoning")
_ENTRY: Final = ("model", *_RATES, "source", "date")


@dataclass(frozen=True, slots=True)
class Price:
    """The price of models, in dollars per million tokens.

    Attributes:
        model: A name, in which `*` stands for anything and `?` for any character.
        input: Tokens of the prompt.
        cached_input: Those of them that were in a cache.
        output: Tokens of the answer.
        reasoning: Those of them that are reasoning.
    """

    model: str
    input: float
    cached_input: float
    output: float
    reasoning: float
    date: str
    source: str


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of a file; of those that fit a model the first one counts."""

    file: str
    prices: tuple[Price, ...]

    def of(self, model: str) -> Price | None:
        """The price of a model; None where the table has none."""
        return next((price for price in self.prices if fnmatchcase(model, price.model)), None)


def read_prices(path: Path) -> PriceTable:
    """Read a table of prices in YAML.

    Raises:
        PriceError: The file does not exist, it is not a table of prices, or a price is invalid.
    """
    from rulesets.document import read

    try:
        return PriceTable(str(path), tuple(_prices(read(path))))
    except RulesetFileError as error:
        message = str(error).partition("; a ruleset begins")[0]
        raise PriceError(f"{message}; docs/costs.md says how prices are written") from error


def _prices(document: DocumentPart) -> list[Price]:
    parts = document.mapping(_KEYS, _KEYS)
    if (schema := parts["schema"].text()) != SCHEMA:
        raise parts["schema"].error(f"must be {SCHEMA}, not {schema!r}")
    date, source = _day(parts["date"]), parts["source"].text()
    prices: dict[str, Price] = {}
    for part in parts["models"].sequence():
        price = _price(part, date, source)
        if price.model in prices:
            raise part.error(f"{price.model!r} has a price already, further up")
        prices[price.model] = price
    if not prices:
        raise parts["models"].error("has no price in it")
    return list(prices.values())


def _price(part: DocumentPart, date: str, source: str) -> Price:
    parts = part.mapping(_ENTRY, ("model", "input", "output"))
    rates = {name: _rate(parts[name]) for name in _RATES if name in parts}
    return Price(
        model=parts["model"].text(),
        input=rates["input"],
        cached_input=rates.get("cached_input", rates["input"]),
        output=rates["output"],
        reasoning=rates.get("reasoning", rates["output"]),
        date=_day(parts["date"]) if "date" in parts else date,
        source=parts["source"].text() if "source" in parts else source,
    )


def _rate(part: DocumentPart) -> float:
    rate = part.number()
    if rate < 0:
        raise part.error("must be 0 or more: dollars per million tokens")
    return rate


def _day(part: DocumentPart) -> str:
    """A date in the original notation, although YAML parses dates."""
    from datetime import date

    written = getattr(part.node, "value", None)
    try:
        return date.fromisoformat(written if isinstance(written, str) else "").isoformat()
    except ValueError:
        raise part.error("must be a day, such as 2026-01-31") from None


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
    """Compute the cost of a run."""
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
