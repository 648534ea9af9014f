"""The files of `reporter/sql/` that a query needs, including indirect dependencies."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.log.sql_files import sql_file

if TYPE_CHECKING:
    from collections.abc import Collection

_COMMENT: Final = re.compile("--.*")

_MADE: Final = re.compile(r"\bCREATE (?:OR REPLACE )?(?:TABLE|VIEW|MACRO) (\w+)")

_READ: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)|\b(\w+)\(")
"""Tables and views, and macros that are called."""

_DEFINED: Final = re.compile(r"(?:\bWITH|\),)\s+(\w+) AS \(")
"""Subqueries with a name, which stand for no table of that name."""


def needed(names: Collection[str], files: Collection[str]) -> frozenset[str]:
    """The files that are needed.

    Args:
        names: Of tables and views.
        files: Those that there are; names that none of them makes are left out.
    """
    maker = {name: file for file in files for name in _MADE.findall(sql_file(file))}
    needed: set[str] = set()
    open_names = set(names)
    while open_names:
        new = {maker[name] for name in open_names if name in maker} - needed
        needed |= new
        open_names = {name for file in new for name in names_read(file)}
    return frozenset(needed)


def names_read(file: str) -> set[str]:
    """The names read by a file's SQL: tables, views and macros."""
    sql = _COMMENT.sub("", sql_file(file))
    defined = set(_DEFINED.findall(sql))
    return {table or macro for table, macro in _READ.findall(sql) if table not in defined}
