"""The columns of a row by content: named by the user, else found by usual names."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from workloads.errors import ColumnError, did_you_mean
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sources import FileRow

PROMPT_COLUMNS: Final = (
    "prompt",
    "question",
    "problem",
    "instruction",
    "query",
    "input",
    "text",
    "goal",
    "user_prompt",
    "question_content",
    "problem_statement",
)
"""What the prompt column is usually called, in any case; the first of these that a file has is taken."""

CHAT_COLUMNS: Final = ("messages", "conversations", "conversation")
"""What a column of conversations is called; looked for after those of prompts, or before them where it was
said which turns of conversations are asked."""

TOKEN_COLUMNS: Final = ("token_ids", "input_ids", "prompt_token_ids")
"""What a column of prompts as tokens is called; looked for last."""

SYSTEM_COLUMNS: Final = ("system", "system_prompt")
"""What the column of system prompts is called when none is named."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that a user has named."""

    prompt: str | None = None  #: holds the question; None: found by its name
    system: str | None = None  #: holds the system prompt; None: found by its name, in each row
    output: str | None = None  #: holds the most output tokens; None: no column does
    #: Holds how often a question is asked relative to the others; None: no column does.
    weight: str | None = None
    tags: tuple[str, ...] = ()
    media: tuple[str, ...] = ()  #: hold images, audio or video: file names, URLs, or lists of them


def usual_column(row: FileRow, *, chats_first: bool) -> str | None:
    """Guess the prompt column of rows like this one, or raise `ColumnError`; None for a plain string."""
    if isinstance(row.value, str):
        return None
    usual = (
        (*CHAT_COLUMNS, *PROMPT_COLUMNS, *TOKEN_COLUMNS)
        if chats_first
        else (*PROMPT_COLUMNS, *CHAT_COLUMNS, *TOKEN_COLUMNS)
    )
    by_name = {name.lower(): name for name in row.value}
    column = next((by_name[name] for name in usual if name in by_name), None)
    if column is None:
        raise ColumnError(
            f"{row.place}: no column has a usual name for a prompt ({_columns(row)}); "
            "name the right one with --prompt-column"
        )
    return column


def usual_system_column(row: FileRow) -> str | None:
    """The column of a system prompt with a usual name; None without one."""
    names = () if isinstance(row.value, str) else row.value
    return next((name for name in SYSTEM_COLUMNS if name in names), None)


def cell(row: FileRow, column: str | None) -> tuple[Any, str]:
    """The cell in a column (None: the whole row), and the place; raise `ColumnError` without a column."""
    if isinstance(row.value, str):
        if column is not None:
            raise ColumnError(
                f"{row.place}: a plain string, where an object with the column {column!r} should be"
            )
        return row.value, row.place
    if column is None:
        raise ColumnError(f"{row.place}: an object, where a plain string should be, as in the rows before")
    if column not in row.value:
        raise ColumnError(
            f"{row.place}: no column {column!r} ({_columns(row)}){did_you_mean(column, row.value)}"
        )
    return row.value[column], f"{row.place}, column {column!r}"


def _columns(row: FileRow) -> str:
    return f"columns: {', '.join(row.value)}" if row.value else "the row has no columns"


_MOST_TOKENS: Final = 10**12
_NAMES: Final = {True: "true", False: "false"}


def read_tags(row: FileRow, columns: Sequence[str]) -> Mapping[str, str]:
    """The tags of a row as texts, without null ones; raise `ColumnError` for lists and objects."""
    tags = {}
    for column in columns:
        value, place = cell(row, column)
        if isinstance(value, dict | list):
            raise ColumnError(f"{place}: {kind(value)}, where the text or number of a tag should be")
        if value is not None:
            tags[column] = _NAMES[value] if isinstance(value, bool) else str(value)
    return tags


def read_media(row: FileRow, columns: Sequence[str]) -> Mapping[str, str]:
    """The cells of media by column: texts as they are, others as JSON with bytes in base64."""
    cells = {column: cell(row, column)[0] for column in columns}
    return {
        column: value if isinstance(value, str) else orjson.dumps(value, default=_base64).decode()
        for column, value in cells.items()
        if value is not None
    }


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError


def most_tokens(row: FileRow, column: str | None) -> int | None:
    """The most output tokens of a row's question, None for no limit; or raise `ColumnError`."""
    if column is None:
        return None
    value, place = cell(row, column)
    if value is None or value == "":
        return None
    number = _number(value)
    if number is None or number != int(number) or not 1 <= number <= _MOST_TOKENS:
        raise ColumnError(f"{place}: {_shown(value)}, where a whole number of tokens, from 1 on, should be")
    return int(number)


def weight(row: FileRow, column: str) -> float:
    """How often a row's question is asked relative to the others, or raise `ColumnError`."""
    value, place = cell(row, column)
    number = _number(value)
    if number is None or number < 0:
        raise ColumnError(f"{place}: {_shown(value)}, where a weight should be: a number from 0 on")
    return number


def require_some(weights: Sequence[float], name: str, column: str) -> None:
    """Raise `ColumnError` if nothing has a weight, or all together too much."""
    if not 0 < sum(weights) < math.inf:
        raise ColumnError(
            f"{name}, column {column!r}: the weights add up to {sum(weights):g}, so that none can be drawn"
        )


def _shown(value: object) -> str:
    return repr(value) if type(value) in (int, float, str) else kind(value)


def _number(value: object) -> float | None:
    """A finite number, also in the text of a CSV cell."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
