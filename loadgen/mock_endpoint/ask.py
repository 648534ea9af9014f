"""What a client asks for: the body of a request, checked, as one value; or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.mock_endpoint.options import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Refusal(Exception):  # noqa: N818 (an answer to the client, not an error of this program)
    """A request that is answered with an error, in the words of OpenAI's API.

    Attributes:
        status: The HTTP status.
        message: A sentence for a person.
        kind: The error's `type`.
        code: The error's `code`, None for the common kinds.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code

    def body(self) -> bytes:
        """The JSON body of the answer."""
        error = {"message": self.message, "type": self.kind, "param": None, "code": self.code}
        return orjson.dumps({"error": error})


@dataclass(frozen=True, slots=True)
class Ask:
    """What a client asks for.

    Attributes:
        model: The model's name, as it stands in the answer.
        question: The last user message, or the prompt: what scripted replies are matched with.
        input_tokens: White-space-separated words of everything that was said; for a prompt of token ids
            their number.
        max_tokens: Where the answer is cut; None does not cut it.
        stream: Whether it is wanted as a stream of events.
        include_usage: Whether the stream ends with the token counts.
    """

    model: str
    question: str
    input_tokens: int
    max_tokens: int | None
    stream: bool
    include_usage: bool


def read_chat(body: bytes, models: Sequence[str]) -> Ask:
    """Read the body of a chat completion request.

    Raises:
        Refusal: It is not one, or names a model that is not known.
    """
    return _read(body, models, _conversation)


def read_completion(body: bytes, models: Sequence[str]) -> Ask:
    """Read the body of a completion request.

    Raises:
        Refusal: It is not one, or names a model that is not known.
    """
    return _read(body, models, _prompt)


def _read(body: bytes, models: Sequence[str], said: Callable[[dict[str, Any]], tuple[str, int]]) -> Ask:
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refusal(400, f"The body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Refusal(400, "The body is not a JSON object")
    if _field(fields, "n", int) not in (None, 1):
        raise Refusal(400, "This server gives one answer a request: leave n out")
    question, input_tokens = said(fields)
    stream = bool(_field(fields, "stream", bool))
    stream_options = _field(fields, "stream_options", dict)
    if stream_options is not None and not stream:
        raise Refusal(400, "stream_options is only allowed when stream is true")
    return Ask(
        model=_model(fields, models),
        question=question,
        input_tokens=input_tokens,
        max_tokens=_max_tokens(fields),
        stream=stream,
        include_usage=bool((stream_options or {}).get("include_usage")),
    )


def _field(fields: dict[str, Any], name: str, kind: type) -> Any:
    value = fields.get(name)
    if value is not None and type(value) is not kind:
        words = {
            bool: "true or false",
            int: "a whole number",
            str: "a text",
            list: "a list",
            dict: "an object",
        }
        raise Refusal(400, f"{name} must be {words[kind]}")
    return value


def _model(fields: dict[str, Any], models: Sequence[str]) -> str:
    name = _field(fields, "model", str)
    if name is None:
        return models[0] if models else DEFAULT_MODEL
    if models and name not in models:
        raise Refusal(
            404,
            f"The model `{name}` does not exist; this server knows {', '.join(models)}",
            code="model_not_found",
        )
    return str(name)


def _max_tokens(fields: dict[str, Any]) -> int | None:
    # OpenAI renamed the field for chats; where both are sent, the new name counts.
    for name in ("max_completion_tokens", "max_tokens"):
        limit: int | None = _field(fields, name, int)
        if limit is not None:
            if limit < 1:
                raise Refusal(400, f"{name} must be at least 1")
            return limit
    return None


def _conversation(fields: dict[str, Any]) -> tuple[str, int]:
    messages = _field(fields, "messages", list)
    if not messages or not all(isinstance(message, dict) for message in messages):
        raise Refusal(400, "messages must be a list with at least one message")
    texts = [(message.get("role"), _text(message.get("content"))) for message in messages]
    question = next((text for role, text in reversed(texts) if role == "user"), "")
    return question, sum(len(text.split()) for _, text in texts)


def _text(content: Any) -> str:
    """The text of a message, whose content can be a text, a list of parts, or (for tool calls) nothing."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise Refusal(400, "a message's content must be a text or a list of parts")
    return "\n".join(str(part["text"]) for part in content if "text" in part)


def _prompt(fields: dict[str, Any]) -> tuple[str, int]:
    match fields.get("prompt"):
        case str(text) | [str(text)]:
            return text, len(text.split())
        case [int(), *_] as token_ids if all(isinstance(token, int) for token in token_ids):
            return "", len(token_ids)
        case [[int(), *_] as token_ids] if all(isinstance(token, int) for token in token_ids):
            return "", len(token_ids)
    raise Refusal(400, "prompt must be one text or one list of token ids")
