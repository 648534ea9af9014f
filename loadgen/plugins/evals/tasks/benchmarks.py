"""Benchmarks by the tables of `benchmarks.toml`, with the functions that make questions and scores."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workloads.workload import Inputs, Source, Typical, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from workloads.question import Question
    from workloads.scorer import Scorer
    from workloads.sources import FileRow

DATA: Final = Path(__file__).with_name("data")
"""The questions that come with the package."""


def benchmark(
    name: str,
    questions: Callable[[Inputs], Iterator[Question]],
    *scorers: Scorer,
    read: Callable[[Path, bytes], Iterator[FileRow]] | None = None,
    **computed: Any,
) -> Workload:
    """The benchmark of a table.

    Args:
        name: Of the table.
        questions: See `Workload.questions`.
        scorers: The first is the official one.
        read: See `Source.read`, of the table's source.
        computed: Fields of `Workload` that the table does not have.
    """
    fields = dict(_tables()[name])
    for kind in ("subsets", "further"):
        fields[kind] = {key: _source(source) for key, source in fields.get(kind, {}).items()}
    source = _source(fields.pop("source"), read=read) if "source" in fields else None
    fields["source"] = source or fields["subsets"].get(fields.get("options", {}).get("subset"))
    fields["typical"] = Typical(*fields["typical"])
    fields["groups"] = tuple(fields.get("groups", ()))
    return Workload(name=name, questions=questions, scorers=scorers, **fields | computed)


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
