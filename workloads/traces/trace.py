"""The replayed part of a trace: requests, times, and lengths."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from workloads.errors import TraceError
from workloads.traces import mooncake
from workloads.traces.lines import checksum, lines_of
from workloads.traces.table import AZURE, BURSTGPT, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from workloads.traces.lines import TextLine
    from workloads.traces.row import TraceRow

MOST_ROWS: Final = 2_000_000
MOST_BLOCKS: Final = 50_000_000
"""Of all requests together; each takes eight bytes here, and in every worker."""

_FORMATS: Final = {
    "Mooncake": (mooncake.begins_with, mooncake.rows),
    "Azure LLM inference": (AZURE.begins_with, AZURE.rows),
    "BurstGPT": (BURSTGPT.begins_with, BURSTGPT.rows),
    "plain": (PLAIN.begins_with, PLAIN.rows),
}


@dataclass(frozen=True, slots=True)
class TracePart:
    """How much of a trace is wanted.

    Attributes:
        requests: How many from its start; None for all.
        span_ns: Those of so long a time, on the trace's clock, from request `ahead` on; None for all.
        ahead: How many are taken whatever their time.
    """

    requests: int | None = None
    span_ns: int | None = None
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """The replayed part of a trace.

    Attributes:
        name: The file's name without its folder.
        format: Whose it is.
        sha256: In hexadecimal, of the whole file as it is stored.
        offsets_ns: When each request comes, from the first one on. Never decreasing.
        inputs: How many tokens each prompt has, at least 1.
        outputs: And each answer, at least 1.
        blocks: Those of all prompts; see `workloads.traces.mooncake`. Empty where the trace has none.
        first_blocks: Request i has the blocks `first_blocks[i]` to `first_blocks[i + 1] - 1`.
        left_out: How many requests were left out because they had no input or no output.
        is_whole: Whether it goes to the end of the file.
    """

    name: str
    format: str
    sha256: str
    offsets_ns: array[int] = field(default_factory=lambda: array("q"))
    inputs: array[int] = field(default_factory=lambda: array("I"))
    outputs: array[int] = field(default_factory=lambda: array("I"))
    blocks: array[int] = field(default_factory=lambda: array("Q"))
    first_blocks: array[int] = field(default_factory=lambda: array("Q", [0]))
    left_out: int = 0
    is_whole: bool = True


def read_trace(path: Path, part: TracePart) -> Trace:
    """Read a part of a trace of any format; the first line decides the format.

    A request without input or output cannot be asked again (in BurstGPT it failed): left out and counted.

    Raises:
        SourceError, MalformedError: The file cannot be read.
        TraceError: It is not a trace that is known, a line of it is wrong, its time goes back, there is no
            request in it, or there are too many.
    """
    with lines_of(path) as lines:
        name, rows = _recognized(path, lines)
        trace = Trace(path.name, name, checksum(path))
        left_out, is_whole = 0, True
        for row in _forwards(rows):
            if not row.input_tokens or not row.output_tokens:
                left_out += 1
            elif _is_wanted(row, trace, part):
                _add(row, trace)
            else:
                is_whole = False
                break
    if not trace.offsets_ns:
        raise TraceError(f"{path}: there is no request in this trace that has input and output tokens")
    start_ns = trace.offsets_ns[0]
    offsets_ns = array("q", (at_ns - start_ns for at_ns in trace.offsets_ns))
    return replace(trace, offsets_ns=offsets_ns, left_out=left_out, is_whole=is_whole)


def _recognized(path: Path, lines: Iterator[TextLine]) -> tuple[str, Iterator[TraceRow]]:
    first = next(lines, None)
    if first is None:
        raise TraceError(f"{path}: the file is empty, where a trace should be")
    for name, (begins_with, rows) in _FORMATS.items():
        if begins_with(first):
            return name, rows(first, lines)
    raise TraceError(
        f"{first.place}: this is the beginning of no trace that is known: JSON Lines with timestamp, "
        "input_length and output_length (Mooncake), or CSV whose first line has "
        "TIMESTAMP,ContextTokens,GeneratedTokens (Azure), Timestamp,Request tokens,Response tokens "
        "(BurstGPT) or timestamp,input_tokens,output_tokens"
    )


def _forwards(rows: Iterator[TraceRow]) -> Iterator[TraceRow]:
    """The rows, with a check that times never fall."""
    before = next(rows, None)
    if before is None:
        return
    for row in chain([before], rows):
        if row.at_ns < before.at_ns:
            back_s = (before.at_ns - row.at_ns) / 1e9
            raise TraceError(
                f"{row.place}: {back_s:g} s before the request ahead of it; sort the trace by time"
            )
        yield row
        before = row


def _is_wanted(row: TraceRow, trace: Trace, part: TracePart) -> bool:
    count = len(trace.offsets_ns)
    if part.requests is not None and count >= part.requests:
        return False
    if part.span_ns is not None and count > part.ahead:
        return row.at_ns - trace.offsets_ns[part.ahead] <= part.span_ns
    return True


def _add(row: TraceRow, trace: Trace) -> None:
    count = len(trace.offsets_ns)
    if count == MOST_ROWS or len(trace.blocks) > MOST_BLOCKS:
        raise TraceError(
            f"{row.place}: more than {MOST_ROWS} requests, or {MOST_BLOCKS} blocks, cannot be replayed in "
            "one run; give --requests or --duration"
        )
    if count and (row.blocks is None) != (not trace.blocks):
        raise TraceError(f"{row.place}: hash_ids must be in every line, or in none")
    trace.offsets_ns.append(row.at_ns)
    trace.inputs.append(row.input_tokens)
    trace.outputs.append(row.output_tokens)
    trace.blocks.extend(row.blocks or ())
    trace.first_blocks.append(len(trace.blocks))
