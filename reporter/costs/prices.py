"""Tables of prices: dollars per million tokens of a model, with date and source."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from reporter.errors import PriceError
from rulesets.document import read
from rulesets.errors import RulesetFileError

if TYPE_CHECKING:
    from pathlib import Path

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
        date: The date of the price.
        source: The source of the price.
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
