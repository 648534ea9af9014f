"""Tables of prices: the price of a model, and the errors for an invalid file."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadgen.sessions.error_exit_codes import exit_code
from reporter.costs import read_prices
from reporter.errors import PriceError

EXAMPLE = Path(__file__).parents[3] / "examples" / "prices.yaml"
HEAD = "schema: prices/1\nsource: me\ndate: 2026-01-01\n"


def test_the_first_price_that_fits_counts() -> None:
    """What is left out of it costs what the whole does; a date and a source go before."""
    table = read_prices(EXAMPLE)
    small, other = table.of("example/small"), table.of("example/large")
    assert small is not None
    assert (small.input, small.cached_input, small.output) == (0.2, 0.05, 0.8)
    assert other is not None
    assert (other.cached_input, other.reasoning) == (other.input, other.output) == (1, 4)
    assert (small.date, other.date, other.source) == ("2026-01-01", "2026-02-01", "made up as well")
    assert table.of("Example/small") is None
    assert table.of("another") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty; docs/costs.md says how"),
        ("[]", "must hold keys and values"),
        ("schema: prices/1", "the key 'source' is missing"),
        (f"{HEAD}models: []", ":4: models: has no price in it"),
        (HEAD.replace("/1", "/2") + "models: []", ":1: schema: must be prices/1"),
        (HEAD.replace("2026-01-01", "May") + "models: []", ":3: date: must be a day, such as 2026-01-31"),
        (f"{HEAD}models:\n- model: a\n  input: 1", r":5: models\[0\]: the key 'output' is missing"),
        (
            f"{HEAD}models:\n- model: a\n  input: -1\n  output: 1",
            r":6: models\[0\].input: must be 0 or more: dollars per million tokens",
        ),
        (
            f"{HEAD}models:\n- {{model: a, input: $1, output: 1}}",
            r"models\[0\].input: must be a plain number",
        ),
        (f"{HEAD}models:\n- {{model: a, input: .nan, output: 1}}", "must be a finite number"),
        (
            f"{HEAD}models:\n- {{model: a, inputs: 1, output: 1}}",
            "unknown key 'inputs' here; did you mean 'input'",
        ),
        (
            f"{HEAD}models:\n- {{model: a, input: 1, output: 1}}\n- {{model: a, input: 2, output: 2}}",
            "'a' has a price already",
        ),
        (f"{HEAD}models: {{", "is not YAML here"),
    ],
)
def test_an_invalid_table(tmp_path: Path, content: str, message: str) -> None:
    """The error has the line, the key, and what is valid: it is the user's mistake."""
    path = tmp_path / "prices.yaml"
    path.write_text(content)
    with pytest.raises(PriceError, match=message) as error:
        read_prices(path)
    assert str(error.value).startswith(str(path))
    assert exit_code(error.value) == 2


def test_no_file(tmp_path: Path) -> None:
    """It is named."""
    with pytest.raises(PriceError, match=r"none\.yaml: cannot be read"):
        read_prices(tmp_path / "none.yaml")
