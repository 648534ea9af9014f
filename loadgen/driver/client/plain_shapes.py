"""The known shapes of whole responses, for compiled code that follows them (`_plain.c`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.driver.client import server_json
from loadgen.driver.client.codec import Codec, Delta, Usage
from loadgen.driver.client.frame_cache import Shapes, shared_bytes
from loadgen.driver.client.head import STATING
from loadgen.driver.client.redaction import forms_of
from loadgen.driver.errors import MalformedResponseError
from recorder.finish_reasons import AnswerEnding, ending_of
from workloads.thinking import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable

_LESSONS: Final = 8
"""The number of frames with counts to search for two alike."""

_PARTS: Final = 64

_COUNT: Final = re.compile(rb"(?<=[:,\[ ])(?:0|[1-9][0-9]{0,14})(?=[,}\]])")
_OTHER_COUNT: Final = 123_456_701
_MOST_COUNTS: Final = 16
_COUNTS: Final = 5  #: fields of `Usage` that compiled code knows

Frame = tuple[tuple[bytes, ...], tuple[int, ...], Delta]
"""The bytes between the counts of a frame, the fields of `Usage` that have the counts, and the meaning."""


class PlainShapes(Shapes):
    """The shapes of frames of one endpoint, those of frames with counts of tokens included.

    A text in which a secret is repeated has one of the `marks`, as does one with reasoning in tags: both are
    left to Python.
    """

    def __init__(self, codec: Codec, secrets: Iterable[str]) -> None:
        super().__init__(codec)
        self._marks = (*MARKS, *forms_of(secrets))
        self._counted: dict[tuple[bytes, bytes], list[Frame]] = {}
        self._lessons = _LESSONS
        self.parts = _PARTS

    def source(self) -> tuple[Any, ...]:
        """All shapes, as `Wire.teach` takes them."""
        starts = tuple(
            (
                *(before, between),
                tuple((head, tail, channel == "reasoning") for head, tail, channel in templates),
                (
                    *filter(None, (_plain((rest,), (), delta) for rest, delta in deltas.items())),
                    *filter(None, (_plain(*frame) for frame in self._counted.get((before, between), ()))),
                ),
            )
            for before, between, templates, deltas in self.groups
        )
        return starts, tuple(mark.encode() for mark in self._marks), tuple(STATING)

    def note_delta(self, received: bytes, payload: bytes, delta: Delta) -> None:
        """Keep the meaning of a frame without a text, also one with other counts."""
        super().note_delta(received, payload, delta)
        shared = shared_bytes(received) if delta.usage is not None and self._lessons else None
        if shared is None or received != b"data: %b\n\n" % payload:
            return
        self._lessons -= 1
        before, between, rest = shared
        frame = self._with_counts(payload, len(received) - len(rest) - len(b"data: "), delta)
        frames = self._counted.setdefault((before, between), [])
        if frame is not None and frame[:2] not in [each[:2] for each in frames] and self.has_seen(frame[:2]):
            frames.append(frame)
            self.version += 1

    def _with_counts(self, payload: bytes, start: int, delta: Delta) -> Frame | None:
        """The parts of a payload from a place on, between proven counts; None without proven counts."""
        spans: list[tuple[int, int]] = []
        fields: list[int] = []
        for place in list(_COUNT.finditer(payload, start))[:_MOST_COUNTS]:
            usage = self._usage_of(payload, [place.span()], delta)
            changed = [field for field in range(_COUNTS) if usage and usage[field] != _of(delta)[field]]
            if usage and len(changed) == 1 and usage[changed[0]] == _OTHER_COUNT and changed[0] not in fields:
                spans.append(place.span())
                fields += changed
        usage = self._usage_of(payload, spans, delta) if spans else None
        proof = {field: _OTHER_COUNT + number for number, field in enumerate(fields)}
        if usage is None or [*usage] != [proof.get(field, count) for field, count in enumerate(_of(delta))]:
            return None
        starts, ends = [start, *(end for _, end in spans)], [*(begin for begin, _ in spans), len(payload)]
        parts = [payload[begin:end] for begin, end in zip(starts, ends, strict=True)]
        return (*parts[:-1], parts[-1] + b"\n\n"), tuple(fields), delta

    def _usage_of(self, payload: bytes, spans: list[tuple[int, int]], delta: Delta) -> Usage | None:
        """The counts of a payload with other numbers at places; None where anything else differs."""
        for number, (start, end) in reversed([*enumerate(spans)]):
            payload = payload[:start] + b"%d" % (_OTHER_COUNT + number) + payload[end:]
        try:
            members = orjson.loads(payload)
            other = self.codec.chunk(members)
        except (orjson.JSONDecodeError, MalformedResponseError):
            return None
        same = other._replace(usage=None) == delta._replace(usage=None)
        return other.usage if same and server_json.statements(members) is None else None


def _of(delta: Delta) -> Usage:
    return delta.usage or Usage()


def _plain(parts: tuple[bytes, ...], fields: tuple[int, ...], delta: Delta) -> tuple[Any, ...] | None:
    """The meaning of a frame without a text to compiled code; None for a frame that only Python reads."""
    usage, reason = _of(delta), delta.finish_reason
    others = delta._replace(finish_reason=None, usage=None, silent=False, opens=False)
    if others != Delta() or delta.silent != delta.opens or usage.media_tokens is not None:
        return None
    if reason is not None and ending_of(reason) is AnswerEnding.ABORTED:
        return None
    counts = [-1 if count is None else count for count in usage[:_COUNTS]] if delta.usage else ()
    return parts, fields, delta.opens, orjson.dumps(reason) if reason else b"", tuple(counts)
