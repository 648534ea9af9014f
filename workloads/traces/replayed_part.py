"""The replayed part of a trace: requests, times, and lengths."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field, replace
from workloads.errors import TraceError
from workloads.left_out import LeftOut
from workloads.traces import json_trace
from workloads.traces.form import BLOCK_TOKENS, DATES, MOONCAKE, UNITS, TraceForm
from workloads.traces.table_trace import AZURE, BURSTGPT, MOST_NS, PLAIN
from workloads.traces.trace_lines import checksum, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from workloads.traces.trace_lines import TextLine
    from workloads.traces.trace_row import TraceReading, TraceRow

MOST_ROWS: Final = 2_000_000
MOST_BLOCKS: Final = 50_000_000
"""Of all requests together; each takes eight bytes here, and in every worker."""

MOST_PER_S: Final = 100_000
"""No recorded service has more req/s: the times have another unit."""

_TABLES: Final = {"azure": AZURE, "burstgpt": BURSTGPT, "plain": PLAIN}


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
        format: A name of `workloads.traces.form.FORMATS`.
        unit: Of its times: a name of `workloads.traces.form.UNITS`, or `dates`.
        sha256: In hexadecimal, of the whole file as it is stored.
        offsets_ns: When each request comes, from the first one on. Never decreasing.
        inputs: How many tokens each prompt has, at least 1.
        outputs: And each answer, at least 1.
        blocks: Those of all prompts; see `workloads.traces.json_trace`. Empty where the trace has none.
        first_blocks: Request i has the blocks `first_blocks[i]` to `first_blocks[i + 1] - 1`.
        block_tokens: The size of a block.
        left_out: The rows that were left out.
        is_whole: Whether it goes to the end of the file.
    """

    name: str
    format: str
    unit: str
    sha256: str
    offsets_ns: array[int] = field(default_factory=lambda: array("q"))
    inputs: array[int] = field(default_factory=lambda: array("I"))
    outputs: array[int] = field(default_factory=lambda: array("I"))
    blocks: array[int] = field(default_factory=lambda: array("Q"))
    first_blocks: array[int] = field(default_factory=lambda: array("Q", [0]))
    block_tokens: int = BLOCK_TOKENS[MOONCAKE]
    left_out: LeftOut = field(default_factory=LeftOut)
    is_whole: bool = True


def read_trace(path: Path, part: TracePart, form: TraceForm = TraceForm()) -> Trace:  # noqa: B008 (a frozen value)
    """Read a part of a trace of any format; the first lines decide the format.

    A request without input or output cannot be asked again (in BurstGPT it failed): left out and counted.

    Args:
        path: The file.
        part: How much of the trace is wanted.
        form: What is known of the format; the rest is found out.

    Raises:
        SourceError, MalformedError: The file cannot be read.
        TraceError: The format is unknown, a line is wrong, time goes back, no request is left, there are too
            many, or they come faster than any service has recorded.
    """
    with lines_of(path) as lines:
        reading = _recognized(path, lines, form)
        size = reading.block_tokens or BLOCK_TOKENS[MOONCAKE]
        trace = Trace(path.name, reading.format, reading.unit, checksum(path), block_tokens=size)
        is_whole = True
        for row in _forwards(reading.rows):
            if row.at_ns is None or not row.input_tokens or not row.output_tokens:
                trace.left_out.add(row.without, row.place)
            elif _is_wanted(row.at_ns, trace, part):
                _add(row, row.at_ns, trace)
            else:
                is_whole = False
                break
    if not trace.offsets_ns:
        raise TraceError(f"{path}: there is no request in this trace that has input and output tokens")
    start_ns = trace.offsets_ns[0]
    offsets_ns = array("q", (at_ns - start_ns for at_ns in trace.offsets_ns))
    _require_possible(path, trace, offsets_ns[-1])
    return replace(trace, offsets_ns=offsets_ns, is_whole=is_whole)


def _require_possible(path: Path, trace: Trace, span_ns: int) -> None:
    """Refuse a rate at which the unit must be another one."""
    count = len(trace.offsets_ns)
    if not span_ns or count <= 2 or count * 1_000_000_000 < MOST_PER_S * span_ns:  # noqa: PLR2004 (a rate needs three)
        return
    units = list(UNITS)
    larger = "s" if trace.unit == DATES else units[max(0, units.index(trace.unit) - 1)]
    instead = (
        "check its times"
        if trace.unit in {"s", DATES}
        else f"give --trace-format {trace.format},unit={larger}"
    )
    raise TraceError(
        f"{path}: {count} requests in {span_ns / 1e9:g} s (times read in {trace.unit}) are more than any "
        f"service gets; {instead}"
    )


def _recognized(path: Path, lines: Iterator[TextLine], form: TraceForm) -> TraceReading:
    first = next(lines, None)
    if first is None:
        raise TraceError(f"{path}: the file is empty, where a trace should be")
    if json_trace.begins_with(first) and form.format in (None, *json_trace.JSON_FORMATS):
        return json_trace.reading(first, lines, form)
    for name, table in _TABLES.items():
        if form.format in (None, name) and table.begins_with(first):
            return table.reading(name, first, lines, form)
    which = (
        "of no trace that is known" if form.format is None else f"not of a trace in the format {form.format}"
    )
    raise TraceError(
        f"{first.place}: the beginning {which}; known are JSON Lines with timestamp, input_length and "
        "output_length (Mooncake), or CSV whose first line has "
        "TIMESTAMP,ContextTokens,GeneratedTokens (Azure), Timestamp,Request tokens,Response tokens "
        "(BurstGPT) or timestamp,input_tokens,output_tokens"
    )


def _forwards(rows: Iterator[TraceRow]) -> Iterator[TraceRow]:
    """The rows, with a check that times never fall."""
    before_ns: int | None = None
    for row in rows:
        if row.at_ns is not None and abs(row.at_ns) > MOST_NS:
            raise TraceError(
                f"{row.place}: a time of {row.at_ns / 1e9:g} s is centuries away; "
                "give the time unit, as in --trace-format mooncake,unit=ms"
            )
        if row.at_ns is not None and before_ns is not None and row.at_ns < before_ns:
            back_s = (before_ns - row.at_ns) / 1e9
            raise TraceError(
                f"{row.place}: {back_s:g} s before the request ahead of it; sort the trace by time"
            )
        yield row
        before_ns = before_ns if row.at_ns is None else row.at_ns


def _is_wanted(at_ns: int, trace: Trace, part: TracePart) -> bool:
    count = len(trace.offsets_ns)
    if part.requests is not None and count >= part.requests:
        return False
    if part.span_ns is not None and count > part.ahead:
        return at_ns - trace.offsets_ns[part.ahead] <= part.span_ns
    return True


def _add(row: TraceRow, at_ns: int, trace: Trace) -> None:
    count = len(trace.offsets_ns)
    if count == MOST_ROWS or len(trace.blocks) > MOST_BLOCKS:
        raise TraceError(
            f"{row.place}: more than {MOST_ROWS} requests, or {MOST_BLOCKS} blocks, cannot be replayed in "
            "one run; give --requests or --duration"
        )
    if count and (row.blocks is None) != (not trace.blocks):
        raise TraceError(f"{row.place}: hash_ids must be in every line, or in none")
    trace.offsets_ns.append(at_ns)
    trace.inputs.append(row.input_tokens)
    trace.outputs.append(row.output_tokens)
    trace.blocks.extend(row.blocks or ())
    trace.first_blocks.append(len(trace.blocks))
