"""Questions with media: the parts of messages, resolved when a request is encoded and named in the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.plugins.media.media_store import MediaStore, StoredMedia
from workloads.conversation_sample import ConversationSample, FollowUp, conversation_of
from workloads.sample import Message, Sample

Media = StoredMedia | str
"""Stored media, or an http(s) URL."""


def part(kind: str, media: Media) -> dict[str, Any]:
    """The part of a message's content, with the media in place of their text.

    Args:
        kind: `image`, `audio` or `video`.
        media: The media.
    """
    if kind == "audio" and isinstance(media, StoredMedia):
        suffix = media.mime.partition("/")[2]
        return {"type": "input_audio", "input_audio": {"data": media, "format": suffix}}
    return {"type": f"{kind}_url", f"{kind}_url": {"url": media}}


def with_parts(message: Message, parts: Sequence[dict[str, Any]]) -> Message:
    """A message with media before the text, as most chat templates place them."""
    if not parts:
        return message
    content = message.get("content") or ""
    texts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return {**message, "content": [*parts, *texts]}


@dataclass(frozen=True, slots=True)
class MediaSample(ConversationSample):
    """A question with media.

    Attributes:
        as_text: Whether media are texts in requests, for protocols that convert them, and not ready JSON.
    """

    as_text: bool = False

    def messages(self) -> list[Message]:
        """The question as chat messages, with the encoded media."""
        resolve = _text if self.as_text else _fragment
        return [_replaced(message, resolve) for message in Sample.messages(self)]

    def new_messages(self) -> list[Message]:
        """The messages that no earlier turn has logged, with references to the media."""
        return [_replaced(message, _reference) for message in Sample.messages(self)[self.logged :]]

    def content(self) -> list[Any]:
        """Everything that is asked, for a checksum."""
        return [self.new_messages(), self.token_ids, self.tools, self.follow_ups]

    def after(self, answer: Message) -> ConversationSample:
        """The next turn of the conversation, with the media of all turns."""
        before = Sample.messages(self)
        later = ConversationSample.after(replace(self, chat=(), logged=0), answer)
        return replace(later, chat=(*before, *(later.chat or ())), logged=len(before) + 1)


class MediaSamples(Sequence[Sample]):
    """The questions of a dataset with media, made on demand."""

    def __init__(
        self,
        samples: Sequence[Sample],
        media: Sequence[Sequence[Sequence[dict[str, Any]]]],
        *,
        store: MediaStore | None,
        as_text: bool,
    ) -> None:
        """Take samples, and by sample and user turn the parts with media; `store` keeps the media here."""
        self._samples = samples
        self._media = media
        self._store = store
        self._as_text = as_text

    def __getstate__(self) -> dict[str, Any]:
        """The samples for another process of this machine, where the store has the same place."""
        return {**self.__dict__, "_store": None}

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Sample]: ...
    def __getitem__(self, place: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(place, slice):
            numbers = range(len(self))[place]
            return MediaSamples(
                [self._samples[number] for number in numbers],
                [self._media[number % len(self._media)] for number in numbers],
                store=self._store,
                as_text=self._as_text,
            )
        sample, media = self._samples[place], self._media[place % len(self._media)]
        first, *later = media or ((),)
        chat = Sample.messages(sample)
        chat[-1] = with_parts(chat[-1], first)
        turns = conversation_of(sample).follow_ups
        follow_ups = tuple(
            FollowUp(
                (*turn.messages[:-1], with_parts(turn.messages[-1], parts)), turn.recorded, turn.max_tokens
            )
            for turn, parts in zip(turns, (*later, *[()] * len(turns)), strict=False)
        )
        return MediaSample(
            index=sample.index,
            prompt=sample.prompt,
            chat=tuple(chat),
            tools=sample.tools,
            max_tokens=sample.max_tokens,
            temperature=sample.temperature,
            tags=sample.tags,
            follow_ups=follow_ups,
            as_text=self._as_text,
        )

    def examples(self) -> Sequence[Sample]:
        """A sample of each kind: media have no other."""
        return [self[0]]


def _replaced(message: Message, resolve: Callable[[StoredMedia], Any]) -> Message:
    """A message with each medium resolved."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_resolved(part, resolve) for part in content]}


def _resolved(part: Any, resolve: Callable[[StoredMedia], Any]) -> Any:
    """A part with the medium resolved; other parts unchanged."""
    holder = part.get(part["type"]) if isinstance(part, dict) else None
    if not isinstance(holder, dict):
        return part
    members = {
        name: resolve(value) if isinstance(value, StoredMedia) else value for name, value in holder.items()
    }
    return {**part, part["type"]: members}


def _fragment(media: StoredMedia) -> orjson.Fragment:
    return orjson.Fragment(media.quoted())


def _text(media: StoredMedia) -> str:
    return media.quoted()[1:-1].decode("ascii")


def _reference(media: StoredMedia) -> str:
    return media.reference
