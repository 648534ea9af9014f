"""A run's log as it grows: what became of its measured requests, from what is new since the last look.

It reads each event once, and no text of any request. What it says of a request that completed is what the
view `samples` says (reporter/sql/samples.sql), as far as one request's own events tell.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson

from recorder.event import EventType
from reporter.log.credible import is_count, is_output_count
from reporter.log.source import readable
from rulesets.definitions import CATEGORIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rulesets.definitions import Definitions

_NEW: Final = """
SELECT seq, code, at_ns, sample_uuid, data FROM events
WHERE seq > ? AND code BETWEEN 20 AND 26 AND sample_uuid <> '' ORDER BY seq"""

_ENDINGS: Final[Mapping[int, Literal["completed", "failed", "cancelled"]]] = {
    EventType.COMPLETE: "completed",
    EventType.ERROR: "failed",
    EventType.CANCELLED: "cancelled",
}

_LATENCIES: Final = frozenset(
    {"ttft", "ttfo", "ttfv", "ttfb", "latency", "last_token", "held", "issue_lag"}
    | {"latency_from_schedule", "ttft_from_schedule", "ttfo_from_schedule", "ttfv_from_schedule"}
    | {"ttfb_from_schedule", "last_token_from_schedule"}
)
_LENGTHS: Final = frozenset({"output_tokens", "input_tokens"})


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A measured request that is over.

    Attributes:
        how: What became of it.
        figures: Of one that completed, its latencies in ms and its lengths in tokens, by their metrics.
    """

    how: Literal["completed", "failed", "cancelled"]
    figures: Mapping[str, float]


@dataclass(slots=True)
class _Open:
    """What is known of a measured request that is not over."""

    issued_ns: int
    told: Mapping[str, Any]
    sent_ns: int | None = None
    first_chunk_ns: int | None = None


_DIVISORS: Final[Mapping[str, int]] = {"n_minus_1": 1, "n": 0}
"""By how much the tokens that TPOT divides by are fewer than those of the output."""


def followed(definitions: Definitions) -> frozenset[str]:
    """Name the metrics whose figures one request's own events tell, by these definitions."""
    server_counts = definitions.token_source in {None, "server_usage"}
    if not server_counts or set(definitions.token_categories) != set(CATEGORIES):
        return _LATENCIES
    tpot = {"tpot"} if definitions.tpot_denominator in _DIVISORS else set()
    return _LATENCIES | _LENGTHS | tpot


class Following:
    """Follows a log.

    Args:
        log: It.
        definitions: What the figures mean.

    Attributes:
        issued: How many measured requests have been issued.
    """

    def __init__(self, log: Path, definitions: Definitions) -> None:
        self.issued = 0
        self._log = log
        self._definitions = definitions
        self._last_seq = 0
        self._open: dict[str, _Open] = {}

    def new(self) -> Iterator[EndedRequest]:
        """Give the measured requests that have ended since the last time.

        Raises:
            LogError: It is not a log that this version reads.
            sqlite3.Error: It cannot be read.
        """
        with readable(self._log) as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
            for seq, code, at_ns, uuid, data in connection.execute(_NEW, (self._last_seq,)):
                self._last_seq = seq
                ended = self._heed(code, at_ns, uuid, data)
                if ended is not None:
                    yield ended

    def _heed(self, code: int, at_ns: int, uuid: str, data: str | None) -> EndedRequest | None:
        if code == EventType.LOADGEN_ISSUE_CALLED:
            told = orjson.loads(data or "{}")
            if told.get("phase") == "performance":
                self.issued += 1
                self._open[uuid] = _Open(at_ns, told)
            return None
        known = self._open.get(uuid)
        if known is None:
            return None
        match code:
            case EventType.REQUEST_SENT:
                # Sent once more: what came of it before does not count.
                known.sent_ns, known.first_chunk_ns = (
                    orjson.loads(data or "{}").get("sent_high_ns") or at_ns,
                    None,
                )
            case EventType.FIRST_CHUNK:
                known.first_chunk_ns = known.first_chunk_ns or at_ns
            case EventType.COMPLETE:
                del self._open[uuid]
                return EndedRequest("completed", self._figures(known, at_ns, orjson.loads(data or "{}")))
            case EventType.ERROR | EventType.CANCELLED:
                del self._open[uuid]
                return EndedRequest(_ENDINGS[code], {})
        return None

    def _figures(self, known: _Open, ended_ns: int, told: Mapping[str, Any]) -> dict[str, float]:
        scheduled_ns, free_ns = known.told.get("scheduled_ns"), known.told.get("free_ns")
        first_ns = _least(told, "first_token") or known.first_chunk_ns
        ended_ns = told.get("last_token_low_ns") or ended_ns
        moments = {
            "ttft": (first_ns, known.sent_ns),
            "ttfo": (_least(told, "first_output"), known.sent_ns),
            "ttfv": (_least(told, "first_visible"), known.sent_ns),
            "ttfb": (_least(told, "first_byte"), known.sent_ns),
            "last_token": (_least(told, "last_token"), known.sent_ns),
            "latency": (ended_ns, known.issued_ns),
        }
        spans = {f"{name}_from_schedule": (until_ns, scheduled_ns) for name, (until_ns, _) in moments.items()}
        origin_ns = {"scheduled": scheduled_ns, "issued": known.issued_ns, "sent": known.sent_ns}
        for name, (until_ns, own_ns) in moments.items():
            spans[name] = until_ns, origin_ns.get(self._definitions.latency_origin or "", own_ns)
        spans["held"] = free_ns, scheduled_ns
        spans["issue_lag"] = known.issued_ns, scheduled_ns if free_ns is None else free_ns
        figures = {
            name: (until_ns - since_ns) / 1e6
            for name, (until_ns, since_ns) in spans.items()
            if until_ns is not None and since_ns is not None
        }
        return figures | self._of_tokens(known, ended_ns, told)

    def _of_tokens(self, known: _Open, ended_ns: int, told: Mapping[str, Any]) -> dict[str, float]:
        """What needs token counts, where the server tells them and they can be true."""
        first_ns = told.get("first_token_ns") or known.first_chunk_ns
        prompt, output, chunks = told.get("input_tokens"), told.get("output_tokens"), told.get("chunks") or 0
        figures = {"input_tokens": float(prompt)} if prompt is not None and is_count(prompt) else {}
        if output is None or not is_output_count(output, told, known.told.get("max_tokens")):
            return figures
        if output == 0 and chunks:
            return figures
        figures["output_tokens"] = float(output)
        if first_ns is None:
            return figures
        tokens = output - _DIVISORS.get(self._definitions.tpot_denominator, 0)
        if tokens < 1:
            return figures | ({"tpot": 0.0} if self._definitions.tpot_n1 == "zero" else {})
        whole = self._definitions.tpot_end == "complete"
        end_ns = ended_ns if whole else _least(told, "last_token")
        if end_ns is not None and (whole or chunks > 1):
            figures["tpot"] = max(end_ns - first_ns, 0) / 1e6 / tokens
        return figures


def _least(told: Mapping[str, Any], moment: str) -> int | None:
    """The earliest that a moment can have been: a target that is lost by it is lost beyond doubt."""
    at_ns: int | None = told.get(f"{moment}_low_ns") or told.get(f"{moment}_ns")
    return at_ns
