"""Benchmarks by the tables of `benchmarks.toml`, with the functions that make questions and scores."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, fields
from workloads.scorer import Headline, Inquiry, Reference, Scorer
from workloads.workload import Inputs, Source, Typical, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.question import Question
    from workloads.score import Score
    from workloads.sources import FileRow

DATA: Final = Path(__file__).with_name("data")
"""The questions that come with the package."""


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """The functions of a scorer, and the fields with values of Python; see `Scorer`."""

    grade: Callable[[Reference, Answer], Score]
    headlines: tuple[Headline, ...] = (Headline("accuracy"),)
    ask: Callable[[Reference, Answer], Sequence[Inquiry]] | None = None
    judge: str = ""
    require: Callable[[Reference], None] | None = None


def benchmark(
    name: str,
    questions: Callable[[Inputs], Iterator[Question]],
    *scorers: Scorer,
    read: Callable[[Path, bytes], Iterator[FileRow]] | None = None,
    source: Source | None = None,
    subsets: Mapping[str, Source] | None = None,
    further: Mapping[str, Source] | None = None,
    **rules: ScoreRule | Callable[[Reference, Answer], Score],
) -> Workload:
    """The benchmark of a table.

    Args:
        name: Of the table.
        questions: See `Workload.questions`.
        scorers: Complete ones, after those of the table.
        read: See `Source.read`, of the table's source.
        source: In place of a table.
        subsets: As above.
        further: As above.
        rules: By the names of the table's scorers; the first is the official one.
    """
    fields = dict(_tables()[name])
    tables = fields.pop("scorers", {})
    subsets = subsets or _sources(fields.pop("subsets", {}))
    further = further or _sources(fields.pop("further", {}))
    if "source" in fields:
        source = _source(fields.pop("source"), read=read)
    fields["typical"] = Typical(*fields["typical"])
    fields["groups"] = tuple(fields.get("groups", ()))
    return Workload(
        name=name,
        source=source or subsets[fields["options"]["subset"]],
        questions=questions,
        scorers=(*(_scorer(key, rule, tables[key]) for key, rule in rules.items()), *scorers),
        subsets=subsets,
        further=further,
        **fields,
    )


def _scorer(
    name: str, rule: ScoreRule | Callable[[Reference, Answer], Score], facts: Mapping[str, Any]
) -> Scorer:
    rule = rule if isinstance(rule, ScoreRule) else ScoreRule(rule)
    functions: dict[str, Any] = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return Scorer(name, **{**functions, **facts})


def _sources(tables: Mapping[str, Any]) -> Mapping[str, Source]:
    return {name: _source(fields) for name, fields in tables.items()}


def _source(fields: Mapping[str, Any], **more: Any) -> Source:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    if "packaged" in values:
        more["packaged"] = DATA
    return Source(**values | more)


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
