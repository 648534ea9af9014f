"""The summary of a file of rules, and the likely mistakes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulesets.loading import Book


def checked(file: str, book: Book) -> Iterable[str]:
    """A file of rules in a line, and a line for each warning."""
    from reporter.number_text import counted
    from rulesets.linting import warnings

    where: dict[str, list[str]] = {}
    for (model, scenario), ruleset in book.rulesets.items():
        for warning in warnings(ruleset):
            where.setdefault(warning, []).append(f"{model}/{scenario}")
    count = len(book.rulesets)
    title = f"{file}: {book.name} {book.version}: {counted(count, 'scenario')}"
    yield f"{title}, {counted(len(where), 'warning') if where else 'no warnings'}"
    for warning, places in where.items():
        yield f"  warning: {warning}" + f"  [{', '.join(places)}]" * (count > 1)
