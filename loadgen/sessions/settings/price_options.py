"""`--prices`: the table of prices that commands which report take, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from loadgen.sessions.settings.option import Option

if TYPE_CHECKING:
    from reporter.costs import PriceTable

Prices = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="Token prices, in YAML: report the cost of the run in dollars (docs/costs.md).",
        stored=False,
    ),
]


def load(file: Path | None) -> PriceTable | None:
    """The prices of a file; None where none was given."""
    if file is None:
        return None
    from reporter.costs import read_prices

    return read_prices(Path(file))
