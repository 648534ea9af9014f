"""The body of a client's request, checked, as one value; or the reason for a refusal."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.mock_endpoint.media_tokens import media_tokens
from loadgen.mock_endpoint.options import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_KINDS: Final = {
    "cache_salt": str,
    "max_completion_tokens": int,
    "ignore_eos": bool,
    "max_tokens": int,
    "messages": list,
    "min_tokens": int,
    "model": str,
    "n": int,
    "stream": bool,
    "stream_options": dict,
}
"""The fields that are read, with the types that they must have; null is as good as leaving one out."""

_WORDS: Final = {
    bool: "true or false",
    int: "a whole number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


class RefusedRequest(Exception):  # noqa: N818 (an answer to the client, not an error of this program)
    """A request that is answered with an error, in the words of OpenAI's API.

    Attributes:
        status: The HTTP status.
        message: A sentence for a person.
        kind: The error's `type`.
        code: The error's `code`, None for the common kinds.
        param: The error's `param`: the member of the body that is wrong.
        retry_after_s: What the header Retry-After says; None without it.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        kind: str = "invalid_request_error",
        param: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s

    def body(self) -> bytes:
        """The JSON body of the answer."""
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        return orjson.dumps({"error": error})


@dataclass(frozen=True, slots=True)
class MockRequest:
    """A client's request.

    Attributes:
        model: The model's name, as it is in the answer.
        question: The last user message, or the prompt: what scripted replies are matched with. Where a tool's
            result came after that, `tool: ` and the result.
        input_tokens: White-space-separated words of everything that was said; for a prompt of token ids
            their number.
        max_tokens: Where the answer is cut; None does not cut it.
        stream: Whether it is wanted as a stream of events.
        include_usage: Whether the stream ends with the token counts.
        prompt: The messages or the prompt, as they were sent.
        least_tokens: What an answer that would be shorter is drawn out to, before it is cut.
        chat: Whether it is a chat, whose answers can have reasoning and tool calls.
        media_tokens: The tokens of media by name, which are in `input_tokens` as well.
        cache_salt: What separates its prompt from equal ones in a prefix cache, as with vLLM; None for none.
        tokens: The tokens of the prompt without media: words, or token ids.
    """

    model: str
    question: str
    input_tokens: int
    max_tokens: int | None
    stream: bool
    include_usage: bool
    prompt: Any = None
    least_tokens: int = 0
    chat: bool = False
    cache_salt: str | None = None
    tokens: Sequence[str | int] = ()
    media_tokens: tuple[tuple[str, int], ...] = ()

    def without_tokens(self) -> MockRequest:
        """The request without the tokens, of which a prompt of an agent has 100,000."""
        return replace(self, tokens=())


def read_chat(body: bytes, models: Sequence[str], refused: Sequence[str] = ()) -> MockRequest:
    """Read the body of a chat completion request.

    Raises:
        RefusedRequest: It is not one, names a model that is not known, or has a member that is refused.
    """
    return _read(body, models, refused, "messages", _conversation)


def read_completion(body: bytes, models: Sequence[str], refused: Sequence[str] = ()) -> MockRequest:
    """Read the body of a completion request.

    Raises:
        RefusedRequest: It is not one, names a model that is not known, or has a member that is refused.
    """
    return _read(body, models, refused, "prompt", _prompt)


def _read(
    body: bytes,
    models: Sequence[str],
    refused: Sequence[str],
    where: str,
    read_prompt: Callable[[Any], tuple[str, Sequence[str | int]]],
) -> MockRequest:
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RefusedRequest(400, f"The body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise RefusedRequest(400, "The body is not a JSON object")
    for name, value in fields.items():
        if name in refused:
            raise RefusedRequest(422, f"{name}: Extra inputs are not permitted", param=name)
        kind = _KINDS.get(name)
        if kind is not None and value is not None and type(value) is not kind:
            raise RefusedRequest(400, f"{name} must be {_WORDS[kind]}")
    if fields.get("n") not in (None, 1):
        raise RefusedRequest(400, "The server gives one answer per request: leave n out")
    prompt = fields.get(where)
    question, tokens = read_prompt(prompt)
    stream, stream_options = bool(fields.get("stream")), fields.get("stream_options")
    if stream_options is not None and not stream:
        raise RefusedRequest(400, "stream_options is only allowed when stream is true")
    max_tokens = _max_tokens(fields)
    media = media_tokens(_parts(prompt or ())) if where == "messages" else ()
    return MockRequest(
        model=_model(fields, models),
        question=question,
        input_tokens=len(tokens) + sum(count for _, count in media),
        media_tokens=media,
        max_tokens=max_tokens,
        stream=stream,
        include_usage=stream_options is not None and bool(stream_options.get("include_usage")),
        prompt=prompt,
        least_tokens=_least_tokens(fields, max_tokens),
        chat=where == "messages",
        cache_salt=fields.get("cache_salt"),
        tokens=tokens,
    )


def _model(fields: dict[str, Any], models: Sequence[str]) -> str:
    name = fields.get("model")
    if name is None:
        return models[0] if models else DEFAULT_MODEL
    if models and name not in models:
        raise RefusedRequest(
            404,
            f"The model `{name}` does not exist; the server has {', '.join(models)}",
            code="model_not_found",
        )
    return str(name)


def _max_tokens(fields: dict[str, Any]) -> int | None:
    # OpenAI renamed the field for chats; where both are sent, the new name counts.
    for name in ("max_completion_tokens", "max_tokens"):
        limit: int | None = fields.get(name)
        if limit is not None:
            if limit < 1:
                raise RefusedRequest(400, f"{name} must be at least 1")
            return limit
    return None


def _least_tokens(fields: dict[str, Any], max_tokens: int | None) -> int:
    """The minimum length of an answer; with `ignore_eos` the answer continues to the limit."""
    least: int = fields.get("min_tokens") or 0
    if least < 0 or (max_tokens is not None and least > max_tokens):
        raise RefusedRequest(400, "min_tokens must be from 0 to the most tokens that are wanted")
    if fields.get("ignore_eos") and max_tokens is not None:
        return max_tokens + 1
    return least


def _conversation(messages: Any) -> tuple[str, list[str]]:
    question, words = "", list[str]()
    for message in messages or (None,):
        if not isinstance(message, dict):
            raise RefusedRequest(400, "messages must be a list with at least one message")
        text = _text(message.get("content"))
        words += text.split()
        if message.get("role") == "user":
            question = text
        elif message.get("role") == "tool":
            question = f"tool: {text}"
    return question, words


def _parts(messages: Sequence[Any]) -> Iterator[Any]:
    """The parts of all messages whose content is a list."""
    contents = (message.get("content") for message in messages)
    return chain.from_iterable(content for content in contents if isinstance(content, list))


def _text(content: Any) -> str:
    """The text of a message: the content is a text, a list of parts, or (for tool calls) absent."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise RefusedRequest(400, "a message's content must be a text or a list of parts")
    return "\n".join(str(part["text"]) for part in content if "text" in part)


def _prompt(prompt: Any) -> tuple[str, Sequence[str | int]]:
    match prompt:
        case str(text) | [str(text)]:
            return text, text.split()
        case [int(), *_] as token_ids if all(isinstance(token, int) for token in token_ids):
            return "", token_ids
        case [[int(), *_] as token_ids] if all(isinstance(token, int) for token in token_ids):
            return "", token_ids
    raise RefusedRequest(400, "prompt must be one text or one list of token ids")
