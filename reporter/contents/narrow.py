"""A log whose views have only the columns of a page, computed once for forty queries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reporter.contents.example_requests import FAILED, SLOWEST
from reporter.plots.catalog import PLOTS

if TYPE_CHECKING:
    from reporter.log.database import OpenLog

_READ: Final = (
    *("sample_uuid", "tags", "sitting", "phase", "endpoint", "turn", "measured", "in_window", "status"),
    *("issued_ns", "ended_ns", "ttft_ms", "tpot_ms", "latency_ms"),
)
"""The columns of `samples` that figures with intervals are computed from."""

_SAMPLES: Final = "CREATE TEMP TABLE samples AS SELECT {columns} FROM memory.main.samples"

_CHUNKS: Final = """
    CREATE TEMP VIEW chunks AS
    SELECT
        sample_uuid,
        chunk - 1 AS chunk_index,
        CASE WHEN chunk > 1 THEN gap_us / 1e3 END AS gap_ms
    FROM (
        SELECT sample_uuid, unnest(chunk_gaps_us) AS gap_us, generate_subscripts(chunk_gaps_us, 1) AS chunk
        FROM requests
    )"""
"""Without the moments of arrival, which take a sum for each chunk."""


def narrowed(log: OpenLog) -> OpenLog:
    """The log on another connection, with only the columns of `samples` for plots and figures.

    A request takes some 200 bytes; what has no room in memory goes to a temporary file.

    Raises:
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    narrow = log.with_room()
    read = " ".join((*_READ, SLOWEST, FAILED, *(definition.sql for definition in PLOTS.values())))
    words = set(re.findall(r"\w+", read))
    columns = [name for name, *_ in narrow.execute("DESCRIBE samples").fetchall() if name in words]
    narrow.execute(_SAMPLES.format(columns=", ".join(columns)))
    narrow.execute(_CHUNKS)
    return narrow
