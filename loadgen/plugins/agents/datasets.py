"""Rows and eval functions for `BenchRunner`, from files and from `MODULE:FUNCTION`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.bench import EvalFnError, EvalFnWrapper
from loadgen.sessions.errors import UsageError
from workloads.errors import EvalError, WorkloadError
from workloads.evals import eval_function
from workloads.sources import read_rows, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workloads.sources import FileRow

_REQUIRED: Final = ("user_prompt", "ground_truth")


class DatasetParseError(UsageError):
    """A dataset cannot be read: no such file, an unknown format, or a broken row."""


class DatasetValidationError(UsageError):
    """A row of a dataset lacks a column, or has no text in it."""


class DatasetReader:
    """Reads rows with `user_prompt`, `ground_truth`, and others such as `system_prompt`.

    Args:
        path: A JSONL, JSON, CSV, TSV or Parquet file, which may be gzipped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def read(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """Read rows, all columns of each.

        Args:
            limit: How many rows; None reads all.
            offset: How many rows to leave out at the start.

        Raises:
            DatasetParseError: The file cannot be read.
            DatasetValidationError: A row lacks `user_prompt` or `ground_truth`; the message names the row.
        """
        try:
            return list(self._rows(limit, offset))
        except WorkloadError as error:
            raise DatasetParseError(str(error)) from error
        except OSError as error:
            raise DatasetParseError(f"{self.path} cannot be read: {error.strerror}") from error

    def _rows(self, limit: int | None, offset: int) -> Iterator[dict[str, Any]]:
        end = None if limit is None else offset + limit
        for number, row in enumerate(read_rows(self.path, read_stored(self.path), columns=_REQUIRED)):
            if end is not None and number >= end:
                return
            if number >= offset:
                yield _checked(row)


def _checked(row: FileRow) -> dict[str, Any]:
    if isinstance(row.value, str):
        raise DatasetValidationError(f"{row.place}: a plain string, where an object should be")
    for name in _REQUIRED:
        value = row.value.get(name)
        if value is None or value == "":
            raise DatasetValidationError(f"{row.place}: {name} is {'empty' if value == '' else 'missing'}")
    return dict(row.value)


def load_eval_fns(names: Iterable[str], folder: Path | None = None) -> list[EvalFnWrapper]:
    """Import eval functions, each under the name of its function.

    Args:
        names: `MODULE:FUNCTION` of each.
        folder: Where modules are looked for in addition; None is the current folder.

    Raises:
        EvalFnError: A function cannot be imported, or has another signature.
    """
    try:
        return [EvalFnWrapper(eval_function(name, folder), name.rpartition(":")[2]) for name in names]
    except EvalError as error:
        raise EvalFnError(str(error).removeprefix("--eval ")) from error
