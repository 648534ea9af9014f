"""Every event of a log, as rows and as lines of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from reporter.json_values import document
from reporter.log.database_in_memory import empty_database
from reporter.log.opened import opened
from reporter.log.sql_files import sql_file
from reporter.log.tables import make_segments

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROWS_AT_ONCE: Final = 1024

_EVERYTHING: Final = """
    SELECT seq, coalesce(sample_uuid, '') AS sample_uuid, name AS type, at_ns, coalesce(data, '') AS data,
        coalesce(texts, '') AS texts,
        whole_gaps(chunk_gaps_us) AS chunk_gaps_us
    FROM events JOIN event_types USING (code) ORDER BY seq"""


def rows(run: Path) -> Iterator[dict[str, Any]]:
    """Every event of a log, in write order; see `recorder.schema` for the columns.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
    """
    with opened(run) as log, empty_database() as connection:
        connection.execute("SET preserve_insertion_order = true")
        make_segments(connection, log)
        with log.stream(connection, _EVERYTHING, "whole"):
            for batch in connection.sql(sql_file("figures/everything")).to_arrow_reader(_ROWS_AT_ONCE):
                yield from batch.to_pylist()


def lines(run: Path) -> Iterator[bytes]:
    """The events as JSON, one a line; the errors are those of `rows`."""
    return map(_line, rows(run))


def _line(row: dict[str, Any]) -> bytes:
    data = document(row["data"]) if row["data"] else None
    if row["texts"]:
        data = {**(data or {}), "texts": document(row["texts"])}
    if row["chunk_gaps_us"]:
        data = {**(data or {}), "chunk_gaps_us": row["chunk_gaps_us"]}
    return orjson.dumps(
        {
            "sample_uuid": row["sample_uuid"] or None,
            "event_type": row["type"],
            "timestamp_ns": row["at_ns"],
            "data": data,
        },
        option=orjson.OPT_APPEND_NEWLINE,
    )
