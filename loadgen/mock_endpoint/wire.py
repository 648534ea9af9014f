"""The bytes of an answer: the JSON of OpenAI's two protocols, and the events of a stream.

A stream's events differ in their text alone, so the JSON around the text is encoded once a request.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

import orjson

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.token import ExtendedToken, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.token import Token

DONE: Final = b"data: [DONE]\n\n"
"""What ends every stream."""

_HOLE: Final = b'"\\u0000"'
"""How JSON writes the text that marks the place of the token's text."""

Json = dict[str, Any]
_NOTHING: Final[Json] = {}


class Statements(NamedTuple):
    """Members in which a response states the server's times and drafts, by place."""

    root: Json
    choice: Json
    usage: Json


UNSAID: Final = Statements({}, {}, {})


@dataclass(frozen=True, slots=True)
class WireProtocol:
    """The differences between the two protocols.

    Attributes:
        id_prefix: What the ids of its answers start with.
        chunk_object: The `object` of a chunk.
        whole_object: The `object` of an answer in one piece.
        role: What a chunk that holds only the role has in its choice; None where there is none.
        piece: What a choice holds for a token, in a stream.
        end: What a stream's last choice holds in addition to its finish reason.
        whole: What the choice of an answer in one piece holds for it.
    """

    id_prefix: str
    chunk_object: str
    whole_object: str
    role: Json | None
    piece: Callable[[Token], Json]
    end: Json
    whole: Callable[[Token], Json]


CHAT: Final = WireProtocol(
    id_prefix="chatcmpl-",
    chunk_object="chat.completion.chunk",
    whole_object="chat.completion",
    role={"delta": {"role": "assistant", "content": ""}},
    piece=lambda token: {"delta": _members(token)},
    end={"delta": {}},
    whole=lambda token: {"message": {"role": "assistant", "content": None, **_members(token)}},
)

COMPLETION: Final = WireProtocol(
    id_prefix="cmpl-",
    chunk_object="text_completion",
    whole_object="text_completion",
    role=None,
    piece=lambda token: {"text": text_of(token)},
    end={"text": ""},
    whole=lambda token: {"text": text_of(token)},
)


def usage(
    input_tokens: int,
    output_tokens: int,
    cached: int | None = None,
    media: Iterable[tuple[str, Any]] = (),
) -> Json:
    """The token counts of an answer, with those from a cache and of media where there are any."""
    details = {**({} if cached is None else {"cached_tokens": cached}), **dict(media)}
    return {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        **({"prompt_tokens_details": details} if details else {}),
    }


class StreamFrames:
    """The events of one stream.

    Args:
        dialect: The protocol.
        ask: What was asked for.
        serial: What makes the answer's id unique; None makes one up.
    """

    def __init__(self, dialect: WireProtocol, ask: MockRequest, serial: str | None = None) -> None:
        self._dialect = dialect
        self._common = _common(dialect.id_prefix, dialect.chunk_object, ask.model, serial)
        # With usage, OpenAI's chunks other than the last carry the key too, as null.
        self._usage: Json = {"usage": None} if ask.include_usage else {}
        self._before, self._after = self._event(dialect.piece("\0")).rsplit(_HOLE, 1)

    def role(self) -> bytes:
        """The event that holds only the role; empty in a protocol without roles."""
        return self._event(self._dialect.role) if self._dialect.role else b""

    def piece(self, token: Token) -> bytes:
        """The event that carries a token, or several as one."""
        if isinstance(token, ExtendedToken):
            return self._event(self._dialect.piece(token))
        return self._before + orjson.dumps(token) + self._after

    def end(self, finish_reason: str, counts: Json, stated: Statements = UNSAID) -> bytes:
        """The events after the last token: the finish reason, the usage if requested, and the end."""
        members = {} if self._usage else stated.root
        finish = self._event({**self._dialect.end, **stated.choice}, finish_reason, members)
        if not self._usage:
            return finish + DONE
        last = {**self._common, "choices": [], "usage": {**counts, **stated.usage}, **stated.root}
        return finish + _sse(last) + DONE

    def _event(self, choice: Json, finish_reason: str | None = None, more: Json = _NOTHING) -> bytes:
        choices = [_choice(choice, finish_reason)]
        return _sse({**self._common, "choices": choices, **self._usage, **more})


def whole(
    dialect: WireProtocol,
    ask: MockRequest,
    answer: Token,
    finish_reason: str,
    counts: Json,
    stated: Statements = UNSAID,
) -> bytes:
    """The JSON of an answer in one piece."""
    common = _common(dialect.id_prefix, dialect.whole_object, ask.model, None)
    choice = _choice({**dialect.whole(answer), **stated.choice}, finish_reason)
    return orjson.dumps({**common, "choices": [choice], "usage": {**counts, **stated.usage}, **stated.root})


def _members(token: Token) -> Json:
    return {"content": token} if isinstance(token, str) else token.members()


def _common(id_prefix: str, kind: str, model: str, serial: str | None) -> Json:
    answer_id = f"{id_prefix}{serial or uuid4().hex}"
    return {"id": answer_id, "object": kind, "created": int(time.time()), "model": model}


def _choice(content: Json, finish_reason: str | None) -> Json:
    return {"index": 0, **content, "logprobs": None, "finish_reason": finish_reason}


def _sse(event: Json) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"
