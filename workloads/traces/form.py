"""The form of a trace: whose format, the unit of its times, and the size of its blocks; given, or found out.

Several tools write `timestamp`, `input_length`, `output_length` and `hash_ids`: Mooncake's traces have
milliseconds and blocks of 512 tokens, those of GuideLLM and of vLLM's `timed_trace` seconds and blocks of 16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.errors import TraceError, did_you_mean
from workloads.registry import entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNITS: Final[Mapping[str, int]] = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""The nanoseconds of each unit."""

UNIT_NAMES: Final = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

DATES: Final = "dates"
"""The unit of a trace whose times are dates."""

MOONCAKE: Final = "mooncake"
TIMED: Final = "timed"
BAILIAN: Final = "bailian"

FORMATS: Final[Mapping[str, str]] = {
    MOONCAKE: "Mooncake",
    TIMED: "timed trace",
    BAILIAN: "Bailian",
    "azure": "Azure LLM inference",
    "burstgpt": "BurstGPT",
    "plain": "plain",
}
"""The names of formats, for `--trace-format` and for people."""

BLOCK_TOKENS: Final[Mapping[str, int]] = {MOONCAKE: 512, TIMED: 16, BAILIAN: 16}
"""The usual size of a block, by format."""

_SIZES: Final = (512, 16, 64, 32, 128, 256, 1024, 8, 2048, 4096)
_MOST_BLOCK: Final = 1_000_000
_PER_S: Final = 500.0
"""Whole numbers that are milliseconds at more req/s are seconds; a recorded service has far fewer."""

_PER_S_OF_FRACTIONS: Final = 50.0
"""Times with a fraction are rarely milliseconds."""

_EPOCH: Final = (("ns", 1e17), ("us", 1e14), ("ms", 1e11))
"""Times since 1970 say their unit by their size."""


@dataclass(frozen=True, slots=True)
class TraceForm:
    """A form as `--trace-format` gives it; what is None is found out.

    Attributes:
        format: A name of `FORMATS`.
        unit: A name of `UNITS`.
        block_tokens: The size of a block of a prompt.
    """

    format: str | None = None
    unit: str | None = None
    block_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TraceBlock:
    """How a prompt is cut into blocks.

    Attributes:
        tokens: The size of a block.
        whole_only: Whether a shorter last block has no id.
    """

    tokens: int
    whole_only: bool = False

    def ids_of(self, inputs: int) -> int:
        """The number of ids of a prompt, from its tokens."""
        return inputs // self.tokens if self.whole_only else -(-inputs // self.tokens)


def read_form(text: str) -> TraceForm:
    """Read `FORMAT[,unit=UNIT][,block=TOKENS]`.

    Raises:
        TraceError: Not a form.
    """
    option = f"--trace-format {text}"
    name, unit, block = None, None, None
    for part in text.split(","):
        key, has_value, value = (side.strip() for side in part.partition("="))
        if not has_value and name is None and unit is None and block is None:
            name = key.lower()
        elif key == "unit" and value in UNITS:
            unit = value
        elif key == "block" and value.isdecimal() and 1 <= int(value[:9]) <= _MOST_BLOCK:
            block = int(value[:9])
        else:
            raise TraceError(
                f"{option}: {part.strip()!r} is not FORMAT, unit=s|ms|us|ns or block=TOKENS; "
                "for example: --trace-format mooncake,unit=s,block=16"
            )
    if name is not None and name not in (names := format_names()):
        raise TraceError(
            f"{option}: no format {name!r}{did_you_mean(name, names)}; give one of {', '.join(names)}"
        )
    return TraceForm(name, unit, block)


def format_names() -> list[str]:
    """The names of all formats: those of requests, and those of sessions, which plug-ins add."""
    return [*dict.fromkeys((*FORMATS, *entries("traces")))]


def unit_of(times: Sequence[float], usual: str) -> str:
    """The unit of the first times of a trace.

    Args:
        times: In the order of the trace.
        usual: The unit unless the times contradict it.
    """
    first = max(times[:1], default=0.0)
    by_size = next((unit for unit, least in _EPOCH if first >= least), None)
    if by_size is not None or usual != "ms" or len(times) < 2:  # noqa: PLR2004 (a rate needs two)
        return by_size or usual
    span = times[-1] - times[0]
    fractions = any(time != int(time) for time in times)
    per_s = (len(times) - 1) / (span / 1_000) if span > 0 else 0.0
    return "s" if per_s >= (_PER_S_OF_FRACTIONS if fractions else _PER_S) else "ms"


def block_of(lengths: Sequence[tuple[int, int]], usual: int) -> TraceBlock:
    """The blocks that the first prompts of a trace have; the usual ones where none fit.

    Args:
        lengths: Of each prompt, its tokens and the number of its ids.
        usual: The size that is tried first.
    """
    for whole_only in (False, True):
        for tokens in dict.fromkeys((usual, *_SIZES)):
            block = TraceBlock(tokens, whole_only)
            if all(block.ids_of(inputs) == ids for inputs, ids in lengths):
                return block
    return TraceBlock(usual)


def given_block(lengths: Sequence[tuple[int, int]], tokens: int) -> TraceBlock:
    """The blocks of a size that is given: with an id for a shorter last one, unless no prompt has it."""
    if all(inputs // tokens == ids for inputs, ids in lengths):
        return TraceBlock(tokens, whole_only=True)
    return TraceBlock(tokens)
