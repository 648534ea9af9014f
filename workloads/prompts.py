"""From rows to questions: texts, conversations, or tokens, with the row's further settings."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from workloads.chats import read_tools
from workloads.columns import (
    Columns,
    cell,
    most_tokens,
    read_media,
    read_tags,
    require_some,
    usual_column,
    usual_system_column,
    weight,
)
from workloads.conversation_sample import with_limits
from workloads.conversations import Take, question, read_conversation, with_system
from workloads.dataset import Dataset
from workloads.errors import ColumnError, PromptError
from workloads.left_out import LeftOut
from workloads.sample import Sample
from workloads.sources import FileRow, kind, read_rows, read_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


TOOLS_COLUMN: Final = "tools"
"""Where a row with a conversation has the tools that the model may call in it."""


def load_prompts(
    path: Path,
    columns: Columns = Columns(),  # noqa: B008 (a frozen value)
    take: Take | None = None,
    *,
    strict: bool = False,
) -> Dataset:
    """Read the questions of a file (see `workloads.sources` for the formats).

    Rows without a question that can be asked are left out and counted in `Dataset.facts`.

    Args:
        path: The file. Rows that are plain strings are prompts themselves.
        columns: Which columns hold what.
        take: Which turns of conversations are asked; None: of those that are found, the last.
        strict: Whether a row that would be left out is an error.

    Raises:
        SourceError, MalformedError: The file cannot be read; see `workloads.sources`.
        ColumnError: Every row lacks a column or what belongs there (strict: any row), or no column looks like
            the prompt.
        PromptError: Every prompt is empty, or none that can be asked (strict: any prompt).
    """
    stored = read_stored(path)
    rows = read_rows(path, stored)
    return read_questions(path.name, rows, columns, take, sha256(stored).hexdigest, strict=strict)


def read_questions(
    name: str,
    rows: Iterator[FileRow],
    columns: Columns,
    take: Take | None,
    checksum: Callable[[], str],
    *,
    strict: bool = False,
) -> Dataset:
    """Make questions of rows; raise as `load_prompts`."""
    first = next(rows)
    column = columns.prompt or usual_column(first, chats_first=take is not None)
    samples: list[Sample] = []
    weights: list[float] = []
    left_out = LeftOut()
    wrong: ColumnError | PromptError | None = None
    for row in chain([first], rows):
        try:
            asked = sample(len(samples), row, column, columns, take)
        except (ColumnError, PromptError) as error:
            if strict:
                raise
            wrong = wrong or error
            left_out.add_error(error, row.place)
        else:
            samples.append(asked)
            if columns.weight is not None:
                weights.append(weight(row, columns.weight))
    if wrong is not None and not samples:
        raise wrong
    if columns.weight is not None:
        require_some(weights, name, columns.weight)
    facts = left_out.facts()
    return Dataset(
        name, tuple(samples), checksum(), synthetic=False, weights=tuple(weights) or None, facts=facts
    )


def sample(index: int, row: FileRow, column: str | None, columns: Columns, take: Take | None) -> Sample:
    """Make a question of a row; raise as `load_prompts`."""
    value, place = cell(row, column)
    system, tags = (
        _system(row, columns.system),
        {**read_tags(row, columns.tags), **read_media(row, columns.media)},
    )
    max_tokens = most_tokens(row, columns.output)
    if not isinstance(value, list):
        return Sample(index, _prompt(value, place, take), system, max_tokens=max_tokens, tags=tags)
    if are_token_ids(value):
        _require_alone(place, system, take)
        return Sample(index, token_ids=read_token_ids(place, value), max_tokens=max_tokens, tags=tags)
    conversation = with_system(place, read_conversation(place, value, take or "last"), system)
    asked = with_limits(question(index, conversation, _tools(row)), lambda _: max_tokens)
    return replace(asked, tags=tags)


def _prompt(value: object, place: str, take: Take | None) -> str:
    if not isinstance(value, str):
        raise PromptError(
            f"{place}: {kind(value)}, where the prompt's text, a conversation or tokens should be; "
            "name a column of them with --prompt-column"
        )
    if not value.strip():
        raise PromptError(f"{place}: the prompt is empty; fill it in or drop the row")
    if take is not None:
        raise PromptError(
            f"{place}: a text, where a conversation should be; leave --conversations out, or name the column "
            "of the conversations with --prompt-column"
        )
    return value


def _require_alone(place: str, system: str | None, take: Take | None) -> None:
    """Check that a prompt of tokens stands alone, without system prompt or turns."""
    if system is not None:
        raise PromptError(f"{place}: tokens, and a system prompt that cannot go before them; drop its column")
    if take is not None:
        raise PromptError(f"{place}: tokens, where a conversation should be; leave --conversations out")


def _tools(row: FileRow) -> tuple[Mapping[str, Any], ...]:
    named = {} if isinstance(row.value, str) else row.value
    return read_tools(f"{row.place}, column {TOOLS_COLUMN!r}", named.get(TOOLS_COLUMN))


def _system(row: FileRow, column: str | None) -> str | None:
    column = column or usual_system_column(row)
    if column is None:
        return None
    value, place = cell(row, column)
    if not isinstance(value, str | None):
        raise PromptError(f"{place}: {kind(value)}, where the system prompt's text should be")
    return value or None


_MOST_ID: Final = 2**31


def are_token_ids(value: Sequence[object]) -> bool:
    """Whether a list is one of tokens rather than messages, by the first element."""
    return bool(value) and not isinstance(value[0], dict)


def read_token_ids(place: str, value: Sequence[object]) -> tuple[int, ...]:
    """A prompt as the numbers of the model's tokens, or raise `PromptError`."""
    ids = tuple(token for token in value if type(token) is int and 0 <= token < _MOST_ID)
    if len(ids) < len(value):
        number, wrong = next(
            (number, token)
            for number, token in enumerate(value, start=1)
            if not (type(token) is int and 0 <= token < _MOST_ID)
        )
        shown = wrong if type(wrong) in (int, float) else kind(wrong)
        raise PromptError(
            f"{place}, element {number}: {shown}, where a token should be: a whole number from 0 on"
        )
    return ids
