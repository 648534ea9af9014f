"""From rows to questions: which column is the prompt, and which the system prompt."""

from __future__ import annotations

from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from workloads.dataset import Dataset
from workloads.errors import ColumnError, PromptError, did_you_mean
from workloads.sample import Sample
from workloads.sources import Row, kind, read_rows, read_stored

if TYPE_CHECKING:
    from pathlib import Path

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

SYSTEM_COLUMNS: Final = ("system", "system_prompt")
"""What the column of system prompts is called when none is named."""


def load_prompts(path: Path, prompt_column: str | None = None, system_column: str | None = None) -> Dataset:
    """Read the questions of a file (see `workloads.sources` for the formats).

    Args:
        path: The file. Rows that are plain strings are prompts themselves.
        prompt_column: Holds the prompt; guessed from `PROMPT_COLUMNS` by the first row when missing.
        system_column: Holds the system prompt, null or empty where a question has none; when missing,
            whichever of `SYSTEM_COLUMNS` a row has.

    Raises:
        SourceError, MalformedError: The file cannot be read; see `workloads.sources`.
        ColumnError: A row has no such column, or no column looks like the prompt.
        PromptError: A prompt is empty or not text.
    """
    stored = read_stored(path)
    rows = read_rows(path, stored)
    first = next(rows)
    column = prompt_column or _usual_column(first)
    samples = tuple(
        Sample(index, _prompt(row, column), _system(row, system_column))
        for index, row in enumerate(chain([first], rows))
    )
    return Dataset(path.name, samples, sha256(stored).hexdigest(), synthetic=False)


def _usual_column(row: Row) -> str | None:
    """Guess the prompt column; None for a plain string, which needs none."""
    if isinstance(row.value, str):
        return None
    by_name = {name.lower(): name for name in row.value}
    found = next((by_name[usual] for usual in PROMPT_COLUMNS if usual in by_name), None)
    if found is None:
        raise ColumnError(
            f"{row.place}: no column has a usual name for a prompt; {_columns(row)}; "
            "name the right one with --prompt-column"
        )
    return found


def _prompt(row: Row, column: str | None) -> str:
    value, place = _cell(row, column)
    if not isinstance(value, str):
        raise PromptError(
            f"{place}: {kind(value)}, where the prompt's text should be; "
            "name a column of text with --prompt-column"
        )
    if not value.strip():
        raise PromptError(f"{place}: the prompt is empty; fill it in or drop the row")
    return value


def _system(row: Row, column: str | None) -> str | None:
    column = column or _usual_system_column(row)
    if column is None:
        return None
    value, place = _cell(row, column)
    if not isinstance(value, str | None):
        raise PromptError(f"{place}: {kind(value)}, where the system prompt's text should be")
    return value or None


def _usual_system_column(row: Row) -> str | None:
    names = () if isinstance(row.value, str) else row.value
    return next((name for name in SYSTEM_COLUMNS if name in names), None)


def _cell(row: Row, column: str | None) -> tuple[Any, str]:
    """What a row holds in a column (None: what a row without columns holds), and where that is."""
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
            f"{row.place}: there is no column {column!r}; {_columns(row)}{did_you_mean(column, row.value)}"
        )
    return row.value[column], f"{row.place}, column {column!r}"


def _columns(row: Row) -> str:
    return f"the columns are {', '.join(map(repr, row.value))}" if row.value else "it has no columns"
