"""The cost of a run in dollars, by a table of prices per million tokens of a model."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass
from reporter.errors import PriceError
from reporter.log.database import rows_of
from reporter.log.sql_files import quoted
from reporter.number_text import counted
from reporter.values.cost import Cost, TaskCost
from rulesets.errors import RulesetFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reporter.log.database import OpenLog
    from reporter.report import Report
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

_DOLLARS: Final = """(
        input_tokens * {input!r}::DOUBLE
        + least(coalesce(cached_tokens, 0), input_tokens) * ({cached_input!r}::DOUBLE - {input!r}::DOUBLE)
        + output_tokens * {output!r}::DOUBLE
        + least(coalesce(reasoning_tokens, 0), output_tokens) * ({reasoning!r}::DOUBLE - {output!r}::DOUBLE)
    ) / 1e6"""
_RUN: Final = """\
SELECT
    fsum(dollars) AS total,
    fsum(dollars) FILTER (answered) AS measured,
    count(dollars) FILTER (answered) AS priced,
    favg(dollars) FILTER (answered) AS per_request,
    count(*) FILTER (answered AND dollars IS NULL) AS unknown,
    count(*) FILTER (answered AND token_source = 'chunks') AS chunks
FROM (
    SELECT measured AND status = 'completed' AS answered, token_source, {dollars} AS dollars
    FROM samples
)"""

_TASKS: Final = """\
WITH headlines(task, scorer, pass, passes_from) AS (
    VALUES {headlines}
),

dollars AS (
    SELECT task, fsum({dollars}) AS total
    FROM samples JOIN questions USING (prompt_id)
    WHERE measured
    GROUP BY task
),

answers AS (
    SELECT task, scorer, pass, count(*) FILTER (value >= passes_from) AS correct
    FROM scores JOIN headlines USING (task, scorer, pass)
    GROUP BY ALL
)

SELECT task, scorer, total, correct, total / nullif(correct, 0) AS per_correct
FROM headlines LEFT JOIN dollars USING (task) LEFT JOIN answers USING (task, scorer, pass)"""

_CORRECT: Final = """
    SELECT count(*) FILTER (value >= ?) FROM scores WHERE pass = ? AND task = ? AND scorer = ?"""

_JUDGE_CALLS: Final = """
    SELECT
        coalesce(model, ''),
        count(*) FILTER (status = 'completed' AND (input_tokens IS NULL OR output_tokens IS NULL))
    FROM judge_calls
    GROUP BY ALL
    ORDER BY ALL"""

_JUDGES: Final = """\
SELECT prices.model,
    (coalesce(sum(input_tokens), 0) * any_value(per_input)
    + coalesce(sum(output_tokens), 0) * any_value(per_output)) / 1e6 AS dollars
FROM judge_calls JOIN (VALUES {prices}) AS prices(model, per_input, per_output)
    ON prices.model = coalesce(judge_calls.model, '')
GROUP BY prices.model
ORDER BY prices.model"""


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
    asked = asdict(price)
    (run,) = rows_of(log.execute(_RUN.format(dollars=dollars_sql(asked))))
    unknown, chunks = run.pop("unknown"), run.pop("chunks")
    tasks = rows_of(log.execute(_tasks_sql(asked, accuracy))) if benchmarks and accuracy else []
    return Cost(
        model=model,
        price=asked,
        table=table.file,
        **run,
        unknown=unknown,
        judge=judge,
        judges=judges,
        tasks=[TaskCost(**task) for task in tasks],
        notes=[*_notes(unknown, chunks), *of_judges],
    )


def dollars_sql(price: Mapping[str, Any]) -> str:
    """SQL over `samples`: the cost of a request by a `Price`; NULL where its tokens are not known."""
    return _DOLLARS.format(**price)


def _tasks_sql(price: Mapping[str, Any], accuracy: Iterable[TaskScore]) -> str:
    headlines = ", ".join(
        f"({quoted(score.task)}, {_literal(score.scorer)}, {_pass(score)}::INTEGER, {score.pass_threshold!r})"
        for score in accuracy
    )
    return _TASKS.format(headlines=headlines, dollars=dollars_sql(price))


def _judges_sql(prices: Mapping[str, Mapping[str, Any]]) -> str:
    rates = (
        f"({quoted(model)}, {price['input']!r}::DOUBLE, {price['output']!r}::DOUBLE)"
        for model, price in prices.items()
    )
    return _JUDGES.format(prices=", ".join(rates))


def cost_sql(report: Report) -> Iterator[tuple[str, str]]:
    """The labeled queries that the cost of a report was computed by."""
    cost = report.cost
    if cost is None:
        return
    if cost.price is not None:
        yield "The run", _RUN.format(dollars=dollars_sql(cost.price))
        if cost.tasks:
            yield "Benchmarks", _tasks_sql(cost.price, report.accuracy)
    if cost.judges:
        yield "Judges", _judges_sql(cost.judges)


def _literal(text: str | None) -> str:
    return "NULL::VARCHAR" if text is None else quoted(text)


def _pass(score: TaskScore) -> str:
    """The pass of a score's correct answers, where these are determined."""
    first = next(iter(score.headlines.values()))
    is_known = score.pass_ is not None and not score.unscored and first.unit == "share"
    return str(score.pass_) if is_known else "NULL"


def correct_answers(log: OpenLog, score: TaskScore) -> int | None:
    """How many answers of a benchmark are correct; None where that is undetermined."""
    if _pass(score) == "NULL":
        return None
    asked = [score.pass_threshold, score.pass_, score.task, score.scorer]
    correct: int = log.execute(_CORRECT, asked).fetchall()[0][0]
    return correct


def _judged(log: OpenLog, table: PriceTable) -> tuple[float | None, dict[str, dict[str, Any]], list[str]]:
    """The cost of judges, the price of each, and notes on those without a price or counts."""
    prices: dict[str, dict[str, Any]] = {}
    notes = []
    judges = log.execute(_JUDGE_CALLS).fetchall()
    for model, unknown in judges:
        price = table.of(model)
        if price is None:
            notes.append(f"{table.file} has no price for the judge {model}")
            continue
        if unknown:
            notes.append(
                f"{counted(unknown, 'answer')} of the judge {model} without token counts: not in its cost"
            )
        prices[model] = asdict(price)
    if not prices or len(prices) < len(judges):
        return None, prices, notes
    return sum(row["dollars"] for row in rows_of(log.execute(_judges_sql(prices)))), prices, notes


def _notes(unknown: int, chunks: int) -> Iterator[str]:
    if unknown:
        yield f"{counted(unknown, 'completed request')} without token counts: in no cost"
    if chunks:
        yield f"the cost of {chunks:,} requests is an estimate: output was counted in chunks"
