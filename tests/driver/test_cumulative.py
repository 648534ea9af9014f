"""Streams whose frames have the text so far by their protocol, and in truth perhaps parts of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.frame_cache import Shapes
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadgen.driver.client.parsed_response import ParsedResponse

SGLANG = codec_of("sglang", {})
HA = [" ha", " ha", " wor", "ld"]
TWICE = [" ha", " ha"]


def so_far(parts: Iterable[str]) -> list[str]:
    """The texts of frames that have the text so far."""
    text = ""
    return [text := text + part for part in parts]


def answered(texts: list[str], ids: str | None = None, shapes: Shapes | None = None) -> ParsedResponse:
    """The answer of a stream of these texts, a token each, with `ids` of all so far, or of new ones."""
    stream = ResponseStream(SGLANG, shapes=shapes)
    stream.start(event_stream=True)
    for number, text in enumerate(texts, 1):
        frame: dict[str, Any] = {"text": text, "meta_info": {"completion_tokens": number}}
        if ids is not None:
            frame["output_ids"] = [7] if ids == "new" else [7] * number
        stream.receive([b"data: " + orjson.dumps(frame) + b"\n\n"], [10 * number])
    for _ in stream.decode():
        pass
    return stream.answer


@pytest.mark.parametrize("ids", ["new", None])
def test_parts_lose_nothing(ids: str | None) -> None:
    """A part that repeats the one before it is not a text without progress, once another part shows that."""
    answer = answered(HA, ids)
    assert "".join(answer.content) == " ha ha world"
    assert answer.token_ns == [10, 20, 30, 40]


@pytest.mark.parametrize("ids", ["all", "new", None])
def test_the_text_so_far_is_read_once(ids: str | None) -> None:
    """Whatever the ids of its tokens are: some versions send new ids with the whole text."""
    answer = answered([*so_far(HA), " ha ha world"], ids)
    assert "".join(answer.content) == " ha ha world"
    assert answer.token_ns == [10, 20, 30, 40]


@pytest.mark.parametrize(("ids", "text"), [("new", " ha ha"), ("all", " ha"), (None, " ha")])
def test_ids_decide_where_texts_do_not(ids: str | None, text: str) -> None:
    """Equal texts are two parts where ids are new, and one where they are all, or are missing."""
    answer = answered(TWICE, ids)
    assert "".join(answer.content) == text
    assert len(answer.token_ns) == len(text) // 3


def test_what_one_response_shows_holds_for_the_next() -> None:
    """The responses of an endpoint are of one form."""
    shapes = Shapes(SGLANG)
    assert "".join(answered(HA, shapes=shapes).content) == " ha ha world"
    assert "".join(answered(TWICE, shapes=shapes).content) == " ha ha"


def test_a_character_that_completes_and_a_stop_that_is_cut() -> None:
    """Neither the end of half a character nor a stop string that goes makes the text one of parts."""
    assert "".join(answered(["a\ufffd", "aé", "aé\nUser", "aé"]).content) == "aé"
