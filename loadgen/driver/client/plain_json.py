"""Any server with one JSON text per answer: the user names the path, and the place of the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.client.body_template import fill, placeholders
from loadgen.driver.client.codec import (
    Delta,
    Generation,
    Usage,
    bearer,
    joined_prompt,
    logged_messages,
    read_error,
    read_reason,
    require_texts,
)
from loadgen.driver.client.server_json import counted, place, text
from loadgen.driver.errors import CannotAskError, MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Sample

BODY: Final[Mapping[str, Any]] = {
    "model": "{model}",
    "prompt": "{prompt}",
    "max_tokens": "{max_tokens}",
    "temperature": "{temperature}",
}
"""What is asked with unless the user says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainJson:
    """A protocol that the user describes.

    Attributes:
        body: The request body, with placeholders (`loadgen.driver.client.body_template`).
        text_at: Where the text is in an answer (`loadgen.driver.client.server_json`).
        tokens_at: Likewise the number of output tokens; None where servers do not say.
    """

    path: str = "/generate"
    body: Mapping[str, Any] = field(default_factory=lambda: BODY)
    text_at: str = "text"
    tokens_at: str | None = None
    finish_at: str | None = None

    models: ClassVar[str | None] = None
    cumulative: ClassVar[bool] = False

    @property
    def announces_end(self) -> bool:
        """Whether answers have a finish reason: if the user names the place."""
        return self.finish_at is not None

    def headers(self, api_key: str | None) -> dict[str, str]:
        """A bearer token, as for most servers."""
        return bearer(api_key)

    def request(self, sample: Sample, generation: Generation) -> dict[str, Any]:
        """The request body for a sample; a system prompt without a place of its own precedes the prompt.

        Raises:
            CannotAskError: The body has no place for a conversation, or for tools.
        """
        require_texts(sample, "sse and json")
        places = placeholders(self.body)
        if sample.chat is not None and "messages" not in places:
            raise CannotAskError(_no_place("a conversation", "messages"))
        if sample.tools and "tools" not in places:
            raise CannotAskError(_no_place("a question with tools", "tools"))
        apart = not {"system", "messages"}.isdisjoint(places)
        values = {
            "prompt": sample.prompt if apart else joined_prompt(sample),
            "system": sample.system,
            "messages": sample.messages() if "messages" in places else None,
            "tools": list(sample.tools) or None,
            "model": generation.model,
            "max_tokens": generation.most_tokens(sample),
            "temperature": generation.sampled_at(sample),
            "seed": generation.seed,
        }
        filled: dict[str, Any] = fill(self.body, values)
        return generation.extended(filled)

    def asked(self, sample: Sample) -> dict[str, Any]:
        """The sample's texts for the log."""
        return {"prompt": joined_prompt(sample)} if sample.chat is None else logged_messages(sample)

    def chunk(self, payload: Any) -> Delta:
        """Read one answer, or one frame of a stream."""
        if not isinstance(payload, dict | list):
            raise MalformedResponseError("neither a JSON object nor a list")
        content = self._at(payload, self.text_at)
        if content is not None and not isinstance(content, str):
            raise MalformedResponseError(f"at `{self.text_at}` there is no text")
        is_text_alone = content is not None and len(payload) == 1
        error = read_error(payload) if isinstance(payload, dict) and not is_text_alone else None
        finish_reason, aborted = self._finish_reason(payload)
        tokens = counted(self._at(payload, self.tokens_at))
        return Delta(
            content=text(content),
            finish_reason=finish_reason,
            usage=None if tokens is None else Usage(output_tokens=tokens),
            error=error or aborted,
        )

    def whole(self, payload: Any) -> Delta:
        """Read a complete response that is not a stream."""
        return self.chunk(payload)

    def _finish_reason(self, payload: Any) -> tuple[str | None, str | None]:
        """The finish reason, with the error; some servers send only `true` at the end."""
        reason = self._at(payload, self.finish_at)
        if isinstance(reason, list):
            raise MalformedResponseError(f"at `{self.finish_at}` there is no reason, but a list")
        if isinstance(reason, str | dict | None):
            return read_reason(reason)
        return (str(reason).lower() if reason else None), None

    def _at(self, payload: Any, path: str | None) -> Any:
        return None if path is None else place(path).find(payload)


def _no_place(question: str, placeholder: str) -> str:
    return (
        f"{question}, but the request body has no {{{placeholder}}}: choose another --protocol, or "
        "another --body"
    )
