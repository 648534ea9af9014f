"""The punctuality of a paced server: the lateness of each chunk."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import orjson

from lazy_dataclasses import dataclass

_US: Final = 1_000
_MS: Final = 1_000_000
_MARGIN: Final = 0.01


@dataclass(frozen=True, slots=True)
class Punctuality:
    """The lateness of a server's chunks, each with the due time.

    Attributes:
        chunks: How many were due at their own time.
        late_p50_ns: Their median lateness, in whole microseconds. 0 without chunks.
        late_p99_ns: The lateness that 99 % of them kept to, as above.
        late_max_ns: The lateness of the latest.
        late_1ms: How many left 1 ms or more after they were due.
    """

    chunks: int
    late_p50_ns: int
    late_p99_ns: int
    late_max_ns: int
    late_1ms: int

    @property
    def kept_up(self) -> bool:
        """Whether at least 99 % of the chunks left less than 1 ms after the due time."""
        return self.late_1ms <= _MARGIN * self.chunks

    def __str__(self) -> str:
        if not self.chunks:
            return "nothing was paced: no chunk had a separate due time"
        p50, p99, worst = map(_duration, (self.late_p50_ns, self.late_p99_ns, self.late_max_ns))
        return (
            f"{'kept up' if self.kept_up else 'did NOT keep up'}: {self.chunks:,} chunks, "
            f"late p50 {p50}, p99 {p99}, max {worst}; "
            f"{100 * self.late_1ms / self.chunks:.2f} % late by 1 ms or more"
        )

    def to_json(self) -> str:
        """The values as a JSON object, for `from_json`."""
        return orjson.dumps(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Punctuality:
        """Parse the output of `to_json`."""
        return cls(**orjson.loads(text))


class Lateness:
    """Counts how late chunks leave: exact to 1 us below 10 ms, above that to 1 ms."""

    def __init__(self) -> None:
        self._fine = [0] * (10 * _MS // _US)
        self._coarse: dict[int, int] = {}
        self._max_ns = 0

    def note(self, late_ns: int) -> None:
        """Count a chunk with its lateness, never below 0."""
        if late_ns < 10_000_000:  # noqa: PLR2004 (counted 100,000 times per second)
            self._fine[late_ns // 1_000] += 1
        else:
            late_ms = late_ns // _MS
            self._coarse[late_ms] = self._coarse.get(late_ms, 0) + 1
        if late_ns > self._max_ns:  # noqa: PLR1730 (as above)
            self._max_ns = late_ns

    def punctuality(self) -> Punctuality:
        """The counts so far."""
        fine = [(late_us * _US, number) for late_us, number in enumerate(self._fine) if number]
        late = fine + [(late_ms * _MS, number) for late_ms, number in sorted(self._coarse.items())]
        return Punctuality(
            chunks=sum(number for _, number in late),
            late_p50_ns=_quantile(late, 0.5),
            late_p99_ns=_quantile(late, 0.99),
            late_max_ns=self._max_ns,
            late_1ms=sum(number for late_ns, number in late if late_ns >= _MS),
        )


def _quantile(counted: list[tuple[int, int]], share: float) -> int:
    """The smallest value that at least this share does not exceed (the nearest rank)."""
    reached = list(accumulate(number for _, number in counted))
    return next(
        (value for (value, _), below in zip(counted, reached, strict=True) if below >= share * reached[-1]),
        0,
    )


def _duration(ns: int) -> str:
    return f"{ns / _US:.0f} µs" if ns < _MS else f"{ns / _MS:.1f} ms"
