"""Traces that are tables: comma separated, the first line names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Final
from unicodedata import category

from lazy_dataclasses import dataclass
from workloads.errors import TraceError
from workloads.traces.form import DATES, UNITS, TraceForm, unit_of
from workloads.traces.trace_lines import LONGEST_LINE, TextLine
from workloads.traces.trace_row import TraceReading, TraceRow, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class TraceTable:
    """The columns of a format by content; further columns are allowed.

    Attributes:
        time: When a request came, see `workloads.traces.table_trace`.
        inputs: Its tokens.
        outputs: Those of its answer.
    """

    time: str
    inputs: str
    outputs: str

    def begins_with(self, first: TextLine) -> bool:
        """Whether a first line names these columns, in upper or lower case."""
        return {name.lower() for name in (self.time, self.inputs, self.outputs)} <= set(_header(first))

    def rows(self, first: TextLine, lines: Iterator[TextLine]) -> Iterator[TraceRow]:
        """The requests, the times of which are in seconds unless they are dates.

        Raises:
            TraceError: A row has other cells than the first line has names, or something else in them.
        """
        return self.reading("plain", first, lines, TraceForm(unit="s")).rows

    def reading(self, name: str, first: TextLine, lines: Iterator[TextLine], form: TraceForm) -> TraceReading:
        """Find the unit of the times out, unless it is given, and read the rows by that.

        Args:
            name: The format, for the log.
            first: The line with the columns' names.
            lines: The other lines.
            form: What is given.

        Raises:
            TraceError: A row has other cells than the first line has names, or something else in them.
        """
        second = next(lines, None)
        rows = chain([] if second is None else [second], lines)
        unit = form.unit or "s"
        if second is not None:
            cells, header = _cells(second), _header(first)
            place = header.index(self.time.lower())
            time = cells[place].strip() if place < len(cells) else ""
            if _DATE.fullmatch(time):
                unit = DATES
            elif form.unit is None and _SECONDS.fullmatch(time):
                unit = unit_of([float(time)], "s")
        return TraceReading(name, unit, self._rows(first, rows, unit))

    def _rows(self, first: TextLine, lines: Iterator[TextLine], unit: str) -> Iterator[TraceRow]:
        header = _header(first)
        time, inputs, outputs = (
            header.index(name.lower()) for name in (self.time, self.inputs, self.outputs)
        )
        for line in lines:
            cells = _cells(line)
            if len(cells) != len(header):
                raise TraceError(f"{line.place}: {len(cells)} cells, where the first line has {len(header)}")
            yield TraceRow(
                line.place,
                moment(line.place, self.time, cells[time], "s" if unit == DATES else unit),
                tokens(line.place, self.inputs, cells[inputs]),
                tokens(line.place, self.outputs, cells[outputs]),
            )


AZURE: Final = TraceTable("TIMESTAMP", "ContextTokens", "GeneratedTokens")
"""The traces of Azure's LLM inference services (2023, 2024).

Times are dates with up to seven digits of a second; those of 2024 have `+00:00` after them. The multimodal
trace has a further column, `NumImages`, which is not replayed. Source: github.com/Azure/AzurePublicDataset.
"""

BURSTGPT: Final = TraceTable("Timestamp", "Request tokens", "Response tokens")
"""BurstGPT, with columns for the model, total tokens and the type of log, and for sessions later.

Times are seconds from the start. A request without response tokens is one that failed. Source:
github.com/HPMLL/BurstGPT.
"""

PLAIN: Final = TraceTable("timestamp", "input_tokens", "output_tokens")
"""The simplest table; times are in seconds, or dates."""


def _header(first: TextLine) -> list[str]:
    # Invisible marks, of order or of bytes, come from a text editor.
    visible = "".join(char for char in first.text if category(char) != "Cf")
    names = [name.strip().lower() for name in _cells(TextLine(first.place, visible))]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise TraceError(f"{first.place}: {times} columns are called {name!r}; give each its own name")
    return names


def _cells(line: TextLine) -> list[str]:
    if '"' not in line.text:
        return line.text.split(",")
    csv.field_size_limit(LONGEST_LINE)
    try:
        return next(csv.reader([line.text], strict=True))
    except csv.Error as error:
        raise TraceError(f"{line.place}: not CSV ({error}); is there a stray quote?") from error


_SECOND: Final = 1_000_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = re.compile(r"[0-9]{1,20}(\.[0-9]*)?([eE][+-]?[0-9]{1,2})?")
MOST_NS: Final = 2**63 - 1
_DATE: Final = re.compile(
    r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?(Z|[+-]\d\d:?\d\d)?",
)


def moment(place: str, name: str, value: str, unit: str = "s") -> int:
    """Read a moment: `118.25`, `1e-05`, `2023-11-16 18:17:03.9799600`, `2024-05-10 00:00:00.009930+00:00`.

    Args:
        place: Where it stands, for messages.
        name: The column.
        value: What is there. A date without an offset from UTC is in UTC.
        unit: The unit of a number, a name of `workloads.traces.form.UNITS`.

    Returns:
        Nanoseconds, since 1970 for a date.

    Raises:
        TraceError: It is not one.
    """
    text = value.strip()
    if _SECONDS.fullmatch(text) and (at_ns := int(Decimal(text) * UNITS[unit])) <= MOST_NS:
        return at_ns
    if (match := _DATE.fullmatch(text)) and (date := _date(f"{match[1]}{match[3] or '+00:00'}")):
        since = date - _EPOCH
        return (since.days * 86_400 + since.seconds) * _SECOND + _fraction(match[2])
    raise TraceError(
        f"{place}, {name}: {value!r} is not a time; write seconds (118.25), or a date and a time "
        "(2024-05-10 00:00:00.009930+00:00)"
    )


def _fraction(digits: str | None) -> int:
    """Nanoseconds from the digits after the point; finer digits are cut off."""
    return int((digits or "0")[:9].ljust(9, "0"))


def _date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
