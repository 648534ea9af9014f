"""The parts of an answer: tokens, mostly text, some reasoning or a part of a tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A tool call, or a part of one.

    Attributes:
        index: Which of the answer's calls it is, from 0.
        id: Its id; empty but in the first part.
        name: The function's name; empty but in the first part.
        arguments: JSON text, or a part of it.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""

    def member(self) -> dict[str, Any]:
        """As a member of `tool_calls`."""
        if not self.name:
            return {"index": self.index, "function": {"arguments": self.arguments}}
        function = {"name": self.name, "arguments": self.arguments}
        return {"index": self.index, "id": self.id, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ExtendedToken:
    """A token with more than text, or several tokens in one.

    Attributes:
        text: The text of the answer.
        reasoning: What is distinguished from it as reasoning.
        calls: Tool calls, or parts of them.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCallPart, ...] = ()

    def members(self) -> dict[str, Any]:
        """The members of a chat delta or message."""
        members: dict[str, Any] = {"reasoning_content": self.reasoning} if self.reasoning else {}
        if self.text or not (self.reasoning or self.calls):
            members["content"] = self.text
        return members | ({"tool_calls": [call.member() for call in self.calls]} if self.calls else {})


Token = str | ExtendedToken

SILENT: Final = ""
"""A token that takes as long as any other and is counted, and that no event of a stream shows."""


def joined(tokens: Sequence[Token]) -> Token:
    """Several tokens as one, the parts of each tool call together."""
    try:
        return "".join(tokens)  # type: ignore[arg-type]  # nearly always there are texts alone
    except TypeError:
        whole = [ExtendedToken(token) if isinstance(token, str) else token for token in tokens]
    return ExtendedToken(
        "".join(part.text for part in whole),
        "".join(part.reasoning for part in whole),
        tuple(_whole_calls(whole)),
    )


def text_of(token: Token) -> str:
    """The text of a token."""
    return token if isinstance(token, str) else token.text


def _whole_calls(parts: Sequence[ExtendedToken]) -> Iterator[ToolCallPart]:
    by_index: dict[int, list[ToolCallPart]] = {}
    for part in parts:
        for call in part.calls:
            by_index.setdefault(call.index, []).append(call)
    for index, calls in by_index.items():
        first = calls[0]
        yield ToolCallPart(index, first.id, first.name, "".join(call.arguments for call in calls))
