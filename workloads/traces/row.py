"""One request of a trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from workloads.errors import TraceError
from workloads.lengths import MOST_TOKENS

_DIGITS: Final = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class TraceRow:
    """The recorded facts of a request.

    Attributes:
        place: Where it stands, for messages: `trace.csv, line 3`.
        at_ns: When it came, on the trace's own clock.
        input_tokens: The length of its prompt; 0 where it asked nothing.
        output_tokens: The length of its answer; 0 where there was none.
        blocks: The ids of its prompt's blocks, where there are any; see `workloads.traces.mooncake`.
    """

    place: str
    at_ns: int
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...] | None = None


def tokens(place: str, name: str, value: object) -> int:
    """A length that a trace says, as a number or as the text of a cell.

    Args:
        place: Where, for messages.
        name: The column or member.
        value: What is there.

    Raises:
        TraceError: It is not one.
    """
    number = value
    if isinstance(value, str):
        digits = value.strip().removesuffix(".0")
        number = int(digits) if _DIGITS.fullmatch(digits) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MOST_TOKENS:
        raise TraceError(
            f"{place}, {name}: {value!r}, where a number of tokens should be: a whole one from 0 to "
            f"{MOST_TOKENS}"
        )
    return number
