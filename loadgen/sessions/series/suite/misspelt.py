"""Benchmarks of a suite with a misspelt task as their name: errors, in place of synthetic prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.errors import near_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.series.suite.document import Suite
    from loadgen.sessions.series.suite.source import SuiteSource


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
    from workloads.results.catalog import run_elsewhere

    base = name.partition(":")[0]
    synthetic = "for synthetic prompts add input_tokens = 512"
    task = near_name(base, (*names(), *ALIASES))
    if results := run_elsewhere(base, task):
        return f"{base!r} is run by another program; type: loadgen import {results} RESULTS --model NAME"
    if task:
        return f"unknown task {base!r}; write name = {ALIASES.get(task, task)!r}, or {synthetic}"
    remedy = f'see `loadgen list tasks`, add prompts = "FILE", or {synthetic}'
    return f"unknown task {base!r}, and the table has no prompts; {remedy}" if is_all else None
