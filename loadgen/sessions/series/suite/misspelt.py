"""Benchmarks of a suite with a misspelt task as their name: errors, in place of synthetic prompts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.source import SuiteSource

_NEAR: Final = 0.8
_VERSION: Final = re.compile(r"[-_ .]?v?\d+([._]\d+)*$")


def require_prompts(source: SuiteSource, suite: Suite, name: str, values: Mapping[str, Any]) -> None:
    """Refuse a benchmark without prompts, the name of which is near a task's or is all that its table has.

    Args:
        source: The file, for messages.
        suite: Its content.
        name: The name of the benchmark.
        values: The options of a run of the benchmark, from all places.

    Raises:
        UsageError: With the line to write.
    """
    from loadgen.sessions.series.suite.rows import QUESTIONS

    number = next((index for index, each in enumerate(suite.benchmarks) if each.name == name), None)
    if number is None or any(values.get(key) for key in ("task", *QUESTIONS)):
        return
    message = _instead(name, is_all=not suite.benchmarks[number].values())
    if message is not None:
        raise source.error(("benchmarks", number), message)


def _instead(name: str, *, is_all: bool) -> str | None:
    from workloads.catalog import ALIASES, names
    from workloads.results.catalog import FORMATS

    base = name.partition(":")[0]
    synthetic = "for synthetic prompts add input_tokens = 512"
    task = _near(base, (*names(), *ALIASES))
    results = _near(base, FORMATS)
    if results and (task is None or _letters(results) == _letters(base)):
        return f"{base!r} is run by another program; type: loadgen import {results} RESULTS --model NAME"
    if task:
        return f"unknown task {base!r}; write name = {ALIASES.get(task, task)!r}, or {synthetic}"
    remedy = f'see `loadgen list tasks`, add prompts = "FILE", or {synthetic}'
    return f"unknown task {base!r}, and the table has no prompts; {remedy}" if is_all else None


def _near(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is spelt nearly as a name, versions at its end aside."""
    by_letters = {_letters(each): each for each in candidates}
    for text in (name, _VERSION.sub("", name)):
        if near := nearest(_letters(text), by_letters, _NEAR):
            return by_letters[near]
    return None


def _letters(name: str) -> str:
    return re.sub(r"[-_ ]", "", name.lower())
