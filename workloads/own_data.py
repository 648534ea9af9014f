"""Questions of the user's own: a file with the columns `user_prompt`, `ground_truth` and `system_prompt`.

Upper and lower case do not matter, and other names can be mapped to these. A file has the formats of prompts
(`workloads.sources`), and a question the kinds of prompts: a text, or a conversation.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.catalog import is_task, with_added_scorers
from workloads.chats import read_tools
from workloads.columns import Columns
from workloads.errors import ColumnError, TaskError, did_you_mean, nearest
from workloads.prompts import TOOLS_COLUMN, sample
from workloads.question import Question
from workloads.score import Score, failed, graded
from workloads.scorer import Reference, Scorer
from workloads.sources import FileRow, format_of, kind
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sample import Sample

USER: Final = "user_prompt"
SYSTEM: Final = "system_prompt"
TRUTH: Final = "ground_truth"
ID: Final = "id"

_TAGS: Final = "tags"
_OWN: Final = "own"
"""What plug-ins call own data."""


def is_own(text: str) -> bool:
    """Whether a task is a file: no benchmark, but with the suffix of a format, or in a folder."""
    return not is_task(text.partition(":")[0]) and (format_of(Path(text)) is not None or "/" in text)


def workload(text: str, columns: Mapping[str, str], tags: Sequence[str]) -> Workload:
    """The benchmark that a file is, by the columns that users name; raise `TaskError` for other kinds."""
    options = {USER: USER, SYSTEM: SYSTEM, TRUTH: TRUTH, ID: ID}
    for meant in columns:
        if meant not in options:
            raise TaskError(
                f"--map {meant}={columns[meant]}: nothing is called {meant!r}{did_you_mean(meant, options)}; "
                f"there are {', '.join(options)}"
            )
    own = Workload(
        name=_name(text),
        title="own data",
        version=1,
        source=Source(files=(), own=text),
        questions=questions,
        scorers=SCORERS,
        options={**options, **columns, _TAGS: list(tags)},
        groups=tuple(tags),
    )
    return with_added_scorers(own, _OWN)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row; the id is the row's, else the number."""
    options = inputs.options
    for index, row in enumerate(inputs.rows):
        user, system, identity = _must(row, USER, options), _may(row, SYSTEM, options), _may(row, ID, options)
        truth = _must(row, TRUTH, options) if options[TRUTH] else None
        name = index if identity is None or row[identity] is None else row[identity]
        reference = {
            "id": str(name),
            TRUTH: None if truth is None else _truth(row, truth),
            "more": _without(row, {user, system, identity, truth}),
        }
        yield Question(str(name), _sample(index, row, user, system, options[_TAGS]), _json(reference))


def _sample(index: int, row: FileRow, user: str, system: str | None, tags: Sequence[str]) -> Sample:
    """The question of a row, made of these columns and no other that prompts of files have."""
    if not isinstance(row[user], str | list):
        raise ColumnError(
            f"{row.place}, column {user!r}: {kind(row[user])}, where a text or a conversation should be; "
            f"name the right column with --map {USER}=COLUMN"
        )
    named = FileRow(row.place, {column: row[column] for column in (user, *filter(None, (system,)), *tags)})
    asked = sample(index, named, user, Columns(user, system, tags=tuple(tags)), take=None)
    tools = _column(row, TOOLS_COLUMN)
    if tools is None:
        return asked
    return replace(asked, tools=read_tools(f"{row.place}, column {tools!r}", row[tools]))


def _without(row: FileRow, columns: Collection[str | None]) -> Mapping[str, Any]:
    """The other columns of a row."""
    there = {} if isinstance(row.value, str) else row.value
    return {column: value for column, value in there.items() if column not in columns}


def _must(row: FileRow, meant: str, options: Mapping[str, str]) -> str:
    """The column that a row has to have."""
    column = _column(row, options[meant])
    if column is None:
        names = _without(row, set())
        columns = f"columns: {', '.join(names)}" if names else "the row has no columns"
        near = nearest(options[meant], names) or "COLUMN"
        none = f", or --map {meant}= without one" if meant == TRUTH else ""
        raise ColumnError(
            f"{row.place}: no column {options[meant]!r} ({columns}); use --map {meant}={near}{none}"
        )
    return column


def _may(row: FileRow, meant: str, options: Mapping[str, str]) -> str | None:
    """The column of an optional field; required if the user named the column."""
    if options[meant] in ("", meant):
        return _column(row, options[meant])
    return _must(row, meant, options)


def _name(text: str) -> str:
    """The name in rules and reports: the file's name without suffixes."""
    path = Path(text)
    stem = path.name.removesuffix(".gz").removesuffix(".GZ")
    stem = stem.removesuffix(Path(stem).suffix).lower()
    name = re.sub(r"[^a-z0-9]+", "_", stem).strip("_") or "own"
    return f"own_{name}" if is_task(name) else name


def _column(row: FileRow, name: str) -> str | None:
    """The column of a name, else in another case; None without one."""
    names = _without(row, set())
    same = (
        [name] if name in names else [candidate for candidate in names if candidate.lower() == name.lower()]
    )
    if len(same) > 1:
        raise ColumnError(
            f"{row.place}: {' and '.join(map(repr, same))} are one name in another case; rename one"
        )
    return same[0] if same else None


def _truth(row: FileRow, column: str) -> Any:
    """The expected answer: any non-empty JSON value."""
    truth = row[column]
    if truth is None or (isinstance(truth, str) and not truth.strip()):
        shown = kind(truth) if truth is None else "an empty text"
        raise ColumnError(
            f"{row.place}, column {column!r}: {shown}, where the right answer should be; "
            "fill it in or drop the row"
        )
    return truth


def _json(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A value as JSON: times and bytes of a Parquet file become texts."""
    read: Mapping[str, Any] = orjson.loads(orjson.dumps(value, str, orjson.OPT_NON_STR_KEYS))
    return read


# Scorers…


def _held(reference: Reference) -> str | None:
    truth = reference[TRUTH]
    return (
        truth.strip() if isinstance(truth, str) else None if truth is None else orjson.dumps(truth).decode()
    )


def _by(judge: Callable[[str, str], bool]) -> Callable[[Reference, Answer], Score]:
    def grade(reference: Reference, answer: Answer) -> Score:
        truth = _held(reference)
        if truth is None:
            return failed("the row has no ground_truth: give a function with --eval")
        text = answer.text.strip()
        return graded(judge(text, truth), text)

    return grade


SCORERS: Final = (
    Scorer(
        "exact",
        1,
        _by(lambda text, truth: text == truth),
        "the answer is the ground_truth, but for white space at the ends of either",
    ),
    Scorer(
        "contains",
        1,
        _by(lambda text, truth: truth in text),
        "the ground_truth stands somewhere in the answer, in the same case",
    ),
)
"""The first is the default. Of a `ground_truth` that is not text, `exact` and `contains` take its JSON."""
