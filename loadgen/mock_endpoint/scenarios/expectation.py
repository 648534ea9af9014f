"""The facts of a scenario that a client must see, derived from the server's behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from loadgen.mock_endpoint.scenarios.scenario import COMPLETED
from loadgen.mock_endpoint.scenarios.steps import Reset

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loadgen.mock_endpoint.scenarios.dialect import Dialect
    from loadgen.mock_endpoint.scenarios.scenario import Scenario
    from loadgen.mock_endpoint.scenarios.steps import EventContent

_THINKING = frozenset({"reasoning", "reasoning_content"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """The facts of a scenario that a client must see; times are the server's (`PlayedTruth`).

    Attributes:
        sees: `completed`, or the name of a failure; several where either is right.
        streamed: Whether tokens have times.
        tokens: How many there are; None where nothing completes.
        token_source: Who counts them: `server_usage` or `chunks`.
        shown: The tokens of the first choice, by which TPOT divides.
        chunks: How many events carried tokens.
        output: The text of the answer.
        reasoning: The text of the reasoning, None without any.
        arguments: The text of the tool call's arguments, None without any.
        silent_chunks: How many events had a text member with nothing in it.
        first_output: Which of the events with tokens is the first that is not reasoning; None for none.
        first_visible: Which is the first with a text to see; None for none.
        depends: Whether it is a matter of time how much is read: a reset discards what lies unread, and a
            client may discard what it reads together with bytes that are not HTTP.
    """

    sees: tuple[str, ...]
    streamed: bool
    tokens: int | None
    token_source: str | None
    shown: int | None
    chunks: int
    output: str
    reasoning: str | None
    arguments: str | None
    silent_chunks: int
    first_output: int | None
    first_visible: int | None
    depends: bool


def expectation(scenario: Scenario, dialect: Dialect) -> Expectation:
    """The expected facts of a scenario in a protocol."""
    script = scenario.script(dialect)
    answer = [content for content in script.contents if not content.choice]
    carried = [content for content in answer if content.tokens]
    completes, chunks = COMPLETED in scenario.sees, len(carried) if script.streamed else 0
    counted = sum(content.tokens for content in script.contents) if script.counted else chunks
    return Expectation(
        sees=scenario.sees,
        streamed=script.streamed,
        tokens=counted if completes else None,
        token_source=("server_usage" if script.counted else "chunks") if completes else None,
        shown=chunks if len(answer) < len(script.contents) else counted,
        chunks=chunks,
        output=_text(answer, "content") or "",
        reasoning=_text(answer, *_THINKING),
        arguments=_text(answer, "tool"),
        silent_chunks=sum(content.kind == "content" and not content.text for content in answer),
        first_output=_place(content.kind not in _THINKING for content in carried)
        if script.streamed
        else None,
        first_visible=_place(content.kind == "content" and content.text != "" for content in carried)
        if script.streamed
        else None,
        depends=scenario.spoils or any(isinstance(step, Reset) for step in script.steps),
    )


def _text(contents: Sequence[EventContent], *kinds: str) -> str | None:
    """The text of these kinds."""
    return "".join(content.text for content in contents if content.kind in kinds) or None


def _place(flags: Iterable[bool]) -> int | None:
    return next((place for place, flag in enumerate(flags) if flag), None)
