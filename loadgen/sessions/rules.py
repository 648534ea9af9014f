"""What a file of rules has, and what in it is likely a slip."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulesets.loading import Book


def checked(file: str, book: Book) -> Iterable[str]:
    """A file of rules in a line, and a line for each warning."""
    from rulesets.linting import warnings

    where: dict[str, list[str]] = {}
    for (model, scenario), ruleset in book.rulesets.items():
        for warning in warnings(ruleset):
            where.setdefault(warning, []).append(f"{model}/{scenario}")
    count = len(book.rulesets)
    title = f"{file}: {book.name} {book.version}"
    yield f"{title}: {counted(count, 'scenario')}, {counted(len(where), 'warning')}"
    for warning, places in where.items():
        yield f"  warning: {warning}" + f"  [{', '.join(places)}]" * (count > 1)


def counted(count: int, what: str) -> str:
    """A number of things: `no scenarios`, `1 scenario`, `2 scenarios`."""
    return f"{count or 'no'} {what}{'s' * (count != 1)}"
