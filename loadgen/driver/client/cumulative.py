"""Cumulative text: whether frames have the text so far, as declared, or the new part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Delta
    from loadgen.driver.client.frame_cache import Shapes
    from loadgen.driver.client.parsed_response import ParsedResponse

_PARTIAL: Final = "\ufffd"
"""The end of a text whose last character is incomplete."""

_LONG: Final = 64
"""Characters that a frame does not begin with by chance because the frame before it had them."""


class TextSoFar:
    """Decides between cumulative and incremental frames for one response.

    A text that does not continue the one before it is a new part. The ids of a frame's tokens decide as well
    (`Delta.repeats`). Until then a text that repeats the one before it may be either: an answer such as
    " ha ha" in parts looks like a text without progress.
    """

    def __init__(self, answer: ParsedResponse, shapes: Shapes | None) -> None:
        self._answer = answer
        self._shapes = shapes
        self._has_parts: bool | None = True if shapes is not None and shapes.has_parts else None
        self._longest = ""
        self._frames: list[tuple[int, int, int | None]] = []
        self._ids_are_new = False
        self._never_grew = True
        self._is_first = True

    def taken(self, delta: Delta, at_ns: int, low_ns: int | None) -> Delta:
        """The new content of a frame; for a cumulative frame the content replaces the earlier one."""
        text, is_first = delta.content, self._is_first
        self._is_first = False
        if not text or self._has_parts:
            return delta
        if is_first and delta.repeats is not None:
            # All of its ids are new, and all that there are.
            delta = delta._replace(repeats=None)
        if self._has_parts is None:
            self._look_at(delta, at_ns, low_ns)
            if self._has_parts:
                return delta
        return delta if self._answer.forget_content(text) else delta._replace(content="")

    def close(self) -> None:
        """Take the end of the stream, after which there is no further evidence."""
        if self._has_parts is None and self._ids_are_new and self._never_grew:
            self._separate()

    def _look_at(self, delta: Delta, at_ns: int, low_ns: int | None) -> None:
        """Decide by a frame, if the frame is evidence."""
        text, before = delta.content, self._longest
        if not (text.startswith(before.rstrip(_PARTIAL)) or before.startswith(text.rstrip(_PARTIAL))):
            self._separate()
            return
        self._ids_are_new = self._ids_are_new or delta.repeats is False
        grew = bool(before) and len(text) > len(before)
        self._never_grew = self._never_grew and not grew
        if delta.repeats or (grew and len(before) >= _LONG and not self._ids_are_new):
            self._has_parts, self._frames = False, []
            return
        self._frames.append((len(text), at_ns, low_ns))
        self._longest = max(before, text, key=len)

    def _separate(self) -> None:
        """Take the frames so far for parts."""
        self._has_parts = True
        if self._shapes is not None:
            self._shapes.has_parts = True
        self._answer.replace_content(
            [self._longest[:length] for length, _, _ in self._frames],
            [at_ns for _, at_ns, _ in self._frames],
            {place: low_ns for place, (_, _, low_ns) in enumerate(self._frames) if low_ns is not None},
        )
        self._frames = []
