"""The timeline of a response as a drawing: a bar from the schedule to the end, with a line for each chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.number_text import figure, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.render.html.page import ResponseTimeline

_WIDTH: Final = 1000
"""Of the drawing, which is stretched to the page."""
_TOP: Final = 4
_HEIGHT: Final = 38


@dataclass(frozen=True, slots=True)
class Bar:
    """Places from 0 to `_WIDTH`.

    Attributes:
        sent: Where the request was sent.
        first: Where its first token arrived, or its end.
        end: Its end.
        chunks: The path of the lines.
    """

    sent: float
    first: float
    end: float
    chunks: str


def bar(timeline: ResponseTimeline) -> Bar:
    """The places of a timeline."""
    waited = max(timeline.waited_ms, 0.0)
    ends = max([timeline.ends_ms or 0.0, timeline.first_ms or 0.0, *timeline.chunks_ms, 1e-6])
    scale = _WIDTH / (waited + ends)

    def place(sent_ms: float) -> float:
        return round((waited + max(sent_ms, 0.0)) * scale, 1)

    lines = "".join(f"M{place(chunk_ms):g},{_TOP}v{_HEIGHT}" for chunk_ms in timeline.chunks_ms)
    first_ms = ends if timeline.first_ms is None else timeline.first_ms
    return Bar(place(0.0), place(first_ms), place(ends), lines)


def parts(timeline: ResponseTimeline) -> Iterator[tuple[str, str]]:
    """Each color of the drawing, with the meaning and the duration."""
    yield "wait", f"until sent {figure(timeline.waited_ms)} ms"
    if timeline.first_ms is None:
        yield "prefill", f"no token, ended after {figure(timeline.ends_ms)} ms"
        return
    yield "prefill", f"to the first token {figure(timeline.first_ms)} ms"
    shown = len(timeline.chunks_ms)
    thinned = f", {whole(shown)} of them drawn" if shown < timeline.chunks else ""
    yield "chunk", f"{whole(timeline.chunks)} chunks until {figure(timeline.ends_ms)} ms{thinned}"


def words(timeline: ResponseTimeline) -> str:
    """The timeline in a sentence."""
    return ", ".join(described for _, described in parts(timeline))
