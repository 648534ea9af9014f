"""Any server with JSON answers, whole or as a stream: the user names the path, and the place of the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Final

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.codec import (
    Delta,
    Generation,
    Usage,
    bearer,
    joined_prompt,
    logged_messages,
    read_error,
    require_texts,
)
from loadgen.driver.client.server_json import counted, place, read_reason, text
from loadgen.driver.errors import CannotAskError, MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    """A protocol that the user describes."""

    path: str = "/generate"
    #: The request body, with placeholders (`PLACEHOLDERS`).
    body: Mapping[str, Any] = field(default_factory=lambda: BODY)
    text_at: str = "text"  #: where the text is in an answer (`loadgen.driver.client.server_json`)
    tokens_at: str | None = None  #: where the number of output tokens is; None where servers do not say
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
        """The request body for a sample; raise `CannotAskError` without a place for a conversation or tools.

        A system prompt without a placeholder precedes the prompt.
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


PLACEHOLDERS: Final = ("prompt", "system", "messages", "tools", "model", "max_tokens", "temperature", "seed")
"""Places in a request body: `{"inputs": "{prompt}", "max_new_tokens": "{max_tokens}"}`.

A text that is nothing but a placeholder becomes its value, a number where that is one; inside a longer text
the value is written out. The lists, `messages` and `tools`, are not in a longer text. A member or an element
whose value is absent is left out. Other braces mean themselves, and values are not searched for placeholders.
"""

_LISTS: Final = frozenset({"messages", "tools"})
_PLACEHOLDER: Final = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
_LIKE_ONE: Final = re.compile(r"\{\w+\}")
_ABSENT: Final = object()


def placeholders(template: Any) -> set[str]:
    """The placeholders that occur in a template."""
    return {name for written in _texts(template) for name in _PLACEHOLDER.findall(written)}


def check(template: Any) -> None:
    """Raise ValueError for a template without a place for the prompt, or with an unknown place."""
    names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    for written in _texts(template):
        is_placeholder = _PLACEHOLDER.fullmatch(written) is not None
        if _LIKE_ONE.fullmatch(written) and not is_placeholder:
            raise ValueError(f"unknown placeholder {written}; there are {names}")
        if not is_placeholder and (lists := _LISTS.intersection(_PLACEHOLDER.findall(written))):
            raise ValueError(
                f"has more than {{{min(lists)}}} in a text, but is a list; use the placeholder alone"
            )
    if placeholders(template).isdisjoint({"prompt", "messages"}):
        raise ValueError("has no {prompt} in it, nor {messages}: every request would ask the same")


def fill(template: Any, values: Mapping[str, Any]) -> Any:
    """Fill a template in with a value for each placeholder; None is absent, as the result of such a place."""
    if isinstance(template, str):
        if (whole := _PLACEHOLDER.fullmatch(template)) is not None:
            value = values.get(whole[1])
            return _ABSENT if value is None else value
        return _PLACEHOLDER.sub(lambda match: _text(values.get(match[1])), template)
    if isinstance(template, dict):
        filled = {name: fill(member, values) for name, member in template.items()}
        return {name: member for name, member in filled.items() if member is not _ABSENT}
    if isinstance(template, list):
        return [
            element
            for element_template in template
            if (element := fill(element_template, values)) is not _ABSENT
        ]
    return template


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts(template: Any) -> Iterator[str]:
    """Every text in a template except member names."""
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict | list):
        for inner in template.values() if isinstance(template, dict) else template:
            yield from _texts(inner)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSSE(PlainJson):
    """Any server that answers with events: the places apply to every event."""

    body: Mapping[str, Any] = field(default_factory=lambda: {**BODY, "stream": True})
    cumulative: bool = False  # type: ignore[misc]  # one protocol of this kind never is, the other may be
    #: Where an event has the ids of its tokens, of all so far or of the new ones; None without.
    ids_at: str | None = None

    def chunk(self, payload: Any) -> Delta:
        """Read one event of a stream."""
        delta = PlainJson.chunk(self, payload)
        tokens = delta.usage.output_tokens if delta.usage is not None else None
        ids = None if self.ids_at is None else place(self.ids_at).find(payload)
        if not isinstance(ids, list) or not ids or tokens is None or tokens <= 1:
            return delta
        return delta._replace(repeats=len(ids) >= tokens)
