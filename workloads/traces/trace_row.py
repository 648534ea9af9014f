"""One request of a trace, and how a trace is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.errors import TraceError
from workloads.lengths import MOST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator

WITHOUT_TOKENS: Final = "without input or output tokens"

_NUMBER: Final = re.compile(r"[0-9]{1,20}(\.0*)?|[0-9](\.[0-9]{1,15})?[eE]\+?[0-9]{1,2}")
_NOTHING: Final = {None, "", "nan", "null", "none"}


@dataclass(frozen=True, slots=True)
class TraceRow:
    """The recorded facts of a request.

    Attributes:
        place: Where it stands, for messages: `trace.csv, line 3`.
        at_ns: When it came, on the trace's own clock; None where the trace does not say.
        input_tokens: The length of its prompt; 0 where it asked nothing.
        output_tokens: The length of its answer; 0 where there was none.
        blocks: The ids of its prompt's blocks, where there are any; see `workloads.traces.json_trace`.
        without: Why it cannot be replayed, for a row without a time.
    """

    place: str
    at_ns: int | None
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...] | None = None
    without: str = WITHOUT_TOKENS


@dataclass(frozen=True, slots=True)
class TraceReading:
    """A trace as it was understood.

    Attributes:
        format: A name of `workloads.traces.form.FORMATS`.
        unit: A name of `workloads.traces.form.UNITS`, or `dates`.
        rows: The requests.
        block_tokens: The size of a block; None where prompts have none.
    """

    format: str
    unit: str
    rows: Iterator[TraceRow]
    block_tokens: int | None = None


def tokens(place: str, name: str, value: object) -> int:
    """A length that a trace says, as a number or as the text of a cell; 0 where it says nothing.

    Args:
        place: Where, for messages.
        name: The column or member.
        value: What is there.

    Raises:
        TraceError: It is not one.
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return 0
    number = value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = float(value)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_TOKENS:
        raise TraceError(
            f"{place}, {name}: {value!r}, where a number of tokens should be: a whole one from 0 to "
            f"{MOST_TOKENS}"
        )
    return number
