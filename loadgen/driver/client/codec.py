"""The interface of protocols: requests, and the meaning of response pieces. Sans-IO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.server_json import is_error
from loadgen.driver.errors import CannotAskError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.sample import Sample


_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Generation:
    """The generation settings of an answer; None leaves a setting to the server."""

    model: str
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = True
    #: Further members of the request body; they win over ours, and None leaves one out.
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    ignore_eos: bool = False  #: whether it is to go on until it has all the tokens that it may have
    seed: int | None = None

    def sampled_at(self, sample: Sample) -> float | None:
        """The sampling temperature for a sample; the dataset takes precedence."""
        return self.temperature if sample.temperature is None else sample.temperature

    def extended(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request's body with the further members."""
        if not self.extra_body:
            return body
        members = body | dict(self.extra_body)
        return {name: value for name, value in members.items() if self.extra_body.get(name, "") is not None}

    def limit(self, sample: Sample) -> int | None:
        """The most output tokens for a sample, with the limit that a further member sets."""
        if not self.extra_body:
            return self.most_tokens(sample)
        limits = (self.extra_body.get(name) for name in _LIMITS)
        return next((limit for limit in limits if isinstance(limit, int)), self.most_tokens(sample))

    def most_tokens(self, sample: Sample) -> int | None:
        """The limit of output tokens for a sample; the dataset takes precedence."""
        return self.max_tokens if sample.max_tokens is None else sample.max_tokens


class Usage(NamedTuple):
    """The server's token counts; None for absent counts."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    total_tokens: int | None = None
    media_tokens: int | None = None  #: of images, audio and video in the prompt

    @property
    def excludes_reasoning(self) -> bool:
        """Whether `output_tokens` leaves reasoning out, by the total, or because reasoning alone is more."""
        output, reasoning, total = self.output_tokens, self.reasoning_tokens, self.total_tokens
        if output is None or not reasoning:
            return False
        if total is None or self.input_tokens is None:
            return reasoning > output
        return total == self.input_tokens + output + reasoning

    @property
    def generated_tokens(self) -> int | None:
        """Output tokens including reasoning, in either way of counting."""
        if self.excludes_reasoning:
            return (self.output_tokens or 0) + (self.reasoning_tokens or 0)
        if self.output_tokens or self.total_tokens is None or self.input_tokens is None:
            return self.output_tokens
        return max(self.total_tokens - self.input_tokens, 0) or self.output_tokens


class Delta(NamedTuple):
    """The content of one piece of a response."""

    content: str = ""
    reasoning: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None
    done: bool = False  #: it is the end: what comes after it is not part of the answer
    #: It names the content and has none, and nothing else but the role: perhaps a token without text so far.
    silent: bool = False
    #: It is silent and names the role: the first such frame, unless a token came before it, is not one.
    opens: bool = False
    others: tuple[int, ...] = ()  #: the indexes of further choices (`n` > 1) that the piece adds something to
    #: Whether the ids of its tokens show that it has the whole answer so far, or only what is new; None where
    #: they do not.
    repeats: bool | None = None
    statements: Mapping[str, Any] | None = None  #: numbers that the server states of the request
    facts: Mapping[str, Any] | None = None  #: payload keys of an answer that is not text: vectors or scores

    @property
    def carries_token(self) -> bool:
        """Whether the piece has generated content: text, reasoning or a part of a tool call."""
        return bool(self.content or self.reasoning or self.tool_calls)


class Codec(Protocol):
    """One protocol: one file. The reader of the stream handles `[DONE]` for all protocols."""

    @property
    def path(self) -> str:
        """Where requests go, below the base URL."""

    @property
    def models(self) -> str | None:
        """Where the models are listed, below the base URL; None where the protocol has no such list."""

    @property
    def announces_end(self) -> bool:
        """Whether an answer has a finish reason, so that one without is not complete."""

    @property
    def cumulative(self) -> bool:
        """Whether each frame has the whole text so far instead of the new part."""

    def headers(self, api_key: str | None) -> dict[str, str]:
        """The headers of the protocol, including the key."""

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any] | bytes:
        """The request body that asks a sample, as JSON or encoded; raise `CannotAskError` if it cannot."""

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The sample's texts for the log: for a later turn, the new ones."""

    def chunk(self, payload: Any) -> Delta:
        """Read one frame of a stream, decoded from JSON; raise `MalformedResponseError` for foreign ones."""

    def whole(self, payload: Any) -> Delta:
        """Read a whole response, decoded from JSON; raise `MalformedResponseError` for foreign ones."""


def bearer(api_key: str | None) -> dict[str, str]:
    """The key as a bearer token, as in OpenAI's protocols and most servers."""
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}


def joined_prompt(sample: Sample) -> str:
    """The texts of a sample as one, for protocols that know no system prompt."""
    return sample.prompt if sample.system is None else f"{sample.system}\n\n{sample.prompt}"


def require_texts(sample: Sample, protocol: str) -> None:
    """Raise `CannotAskError` for a sample that is a list of tokens."""
    if sample.token_ids is not None:
        raise CannotAskError(
            f"prompts that are tokens already go with --protocol completions, not with {protocol}"
        )


def logged_messages(sample: Sample) -> dict[str, Any]:
    """The new messages of a sample for the log, and the tools at the start of a conversation."""
    messages: dict[str, Any] = {"messages": sample.new_messages()}
    return messages | {"tools": list(sample.tools)} if sample.tools and not sample.turn else messages


def read_error(payload: Mapping[str, Any]) -> str | None:
    """Read an error inside a body, in any of the known shapes."""
    error: Any = payload.get("error") or payload.get("errors")
    if not error:
        if not is_error(payload):
            return None
        error = payload
    if isinstance(error, list) and isinstance(error[0], dict):
        error = error[0]
    while isinstance(error, dict):
        error = next((error[name] for name in _MESSAGES if error.get(name)), str(error))
    return str(error)


_MESSAGES: Final = ("message", "detail", "msg", "status_msg", "title", "base_resp", "code")
"""The members with the text of an error, the most telling first."""
