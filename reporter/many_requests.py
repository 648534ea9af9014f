"""Reports of many requests: several threads work on a log, and equal columns are summarized once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reporter.log.database_in_memory import THREADS
from rulesets.definitions import PERCENTILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reporter.log.database import OpenLog

_Made = TypeVar("_Made")

_LOOKED_AT: Final = 100
"""Rows that tell columns apart."""


@contextmanager
def on_a_thread(log: OpenLog, work: Callable[[OpenLog], _Made]) -> Iterator[Callable[[], _Made]]:
    """Work on a log by another connection while the context lasts.

    Yields:
        Waits for the result, and returns it.
    """
    own = log.with_room()
    with own.connection, ThreadPoolExecutor(1) as pool:
        yield pool.submit(work, own).result


def shares(columns: Sequence[str], at_once: int) -> list[list[Sequence[str]]]:
    """Batches of columns for each thread, so that all threads together have `at_once` columns at a time."""
    rounds = ceil(len(columns) / max(THREADS, at_once))
    size = max(1, ceil(len(columns) / (THREADS * max(1, rounds))))
    batches = [columns[first : first + size] for first in range(0, len(columns), size)]
    return [batches[first::THREADS] for first in range(THREADS)]


def alike(
    log: OpenLog, values: str, columns: Sequence[str], chosen: Iterable[str]
) -> tuple[dict[str, Mapping[str, Any]], list[str], dict[str, str]]:
    """The figures of columns with one value, the other columns, and which columns are copies of which others.

    A scan is faster than a sort. Without reasoning, the first output token is the first token; where all
    completed, all are the completed. The first rows tell which columns the scan has to look at.
    """
    rows = log.execute(f"SELECT {', '.join(columns)} {values} LIMIT {_LOOKED_AT}").fetchall()
    seen_in: dict[tuple[Any, ...], list[str]] = {}
    for name, seen in zip(columns, zip(*rows, strict=True), strict=False):
        seen_in.setdefault(seen, []).append(name)
    uniform = [name for seen, names in seen_in.items() if len(set(seen)) == 1 for name in names]
    pairs = [(name, names[0]) for seen, names in seen_in.items() if len(set(seen)) > 1 for name in names[1:]]
    extents = [f"[count({name}), min({name}), max({name})]" for name in uniform]
    differing = [f"count(*) FILTER ({name} IS DISTINCT FROM {first})" for name, first in pairs]
    totals = iter(log.execute(f"SELECT {', '.join((*extents, *differing, '0'))} {values}").fetchall()[0])
    constant: dict[str, Mapping[str, Any]] = {}
    for name, (count, least, greatest) in zip(uniform, totals, strict=False):
        if least == greatest:
            figures = dict.fromkeys((*PERCENTILES, *chosen, "mean", "min", "max"), least)
            constant[name] = {**figures, "n": int(count), "std": 0.0 if count > 1 else None}
    copied = {name: first for (name, first), differ in zip(pairs, totals, strict=False) if not differ}
    return constant, [name for name in columns if name not in constant and name not in copied], copied
