"""docs/statistics.md names every method; its tables, and one of docs/compare.md, are what the methods say."""

from fractions import Fraction
from pathlib import Path

from rulesets.statistics import early_stopping, mann_whitney, order_statistics
from tests.for_each import for_each

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "statistics.md").read_text()
COMPARE = (ROOT / "docs" / "compare.md").read_text()
MODULES = sorted(path.name for path in (ROOT / "rulesets" / "statistics").glob("[!_]*.py"))


def rows(head: str, page: str = PAGE) -> list[list[str]]:
    """The cells of the table with that first column, but for its head."""
    table = page.split(f"\n| {head} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@for_each("module", MODULES)
def test_every_method_is_described(module: str) -> None:
    """By the file that it is in."""
    assert f"`{module}`" in PAGE


def test_the_table_of_early_stopping() -> None:
    """Floors, and how many may be over."""
    result = rows("percentile | fewest samples to pass the test, n_min(0)")
    assert len(result) == 8
    for name, fewest, floor, *over in result:
        p = Fraction(name[1:]) / 100
        assert (int(fewest), int(floor)) == (early_stopping.n_min(0, p), early_stopping.n_min(1, p))
        allowed = [early_stopping.most_over(n, p) for n in (1000, 10_000, 100_000)]
        assert over == ["none" if limit is None else str(limit) for limit in allowed]


def test_the_table_of_order_statistics() -> None:
    """The fewest samples with a limit, one-sided at 95 and 99 %, and at a side of a 95 % interval."""
    result = rows("percentile | fewest samples, upper limit of 95 %")
    assert len(result) == 5
    for name, *fewest in result:
        p = Fraction(name[1:]) / 100
        assert fewest == [str(order_statistics.fewest(p, level)) for level in (0.95, 0.99, 0.975)]


def test_the_table_of_least_p() -> None:
    """Of three runs a side and more, in two digits."""
    table = [(int(runs), float(p)) for runs, p, *_ in rows("runs a side", COMPARE)]
    assert table == [(runs, float(f"{mann_whitney.least_p(runs, runs):.2g}")) for runs in (3, 4, 5, 8, 10)]
