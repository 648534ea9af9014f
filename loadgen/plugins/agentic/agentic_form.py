"""The form of made-up agentic sessions: `--agentic 'turns=20 fanout=0.1 tool=lognormal:2s,1'`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, fields
from workloads.distribution_notation import duration
from workloads.errors import PromptError, did_you_mean
from workloads.lengths import MOST_TOKENS, lengths

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

DEFAULTS: Final = {
    "sessions": "100",
    "themes": "4",
    "system": "lognormal:12000,0.3",
    "task": "lognormal:600,0.8",
    "turns": "lognormal:16,0.7",
    "result": "lognormal:500,1",
    "output": "lognormal:180,0.7",
    "tool": "lognormal:1s,1.2",
    "think": "lognormal:20s,1",
    "user": "0.1",
    "fanout": "0.08",
    "subagents": "uniform:1..3",
    "agent_turns": "lognormal:8,0.6",
    "agent_system": "lognormal:7000,0.3",
    "background": "0.1",
    "depth": "1",
    "context": "131072",
    "summary": "lognormal:3000,0.4",
    "block": "64",
}
"""The members and their defaults: a coding agent with tools and now and then subagents."""

_COUNTS: Final = {"sessions": 1_000_000, "themes": 100_000, "depth": 8, "context": MOST_TOKENS, "block": 4096}
_SHARES: Final = ("user", "fanout", "background")
_TIMES: Final = ("tool", "think")


@dataclass(frozen=True, slots=True)
class AgenticForm:
    """The form of made-up sessions.

    Attributes:
        sessions: How many.
        themes: How many sets of tool definitions and system prompt there are; sessions of a theme share one.
        system: The tokens of that of a main agent.
        task: The tokens of a user's message.
        turns: The requests of a main agent.
        result: The tokens of the results of tools before a request.
        output: The tokens of an answer.
        tool: The seconds of tools before a request.
        think: The seconds of a user before a message.
        user: The share of requests, but for the first, that follow a user's message in place of tools.
        fanout: The share of answers that spawn subagents.
        subagents: How many each of those spawns.
        agent_turns: The requests of a subagent.
        agent_system: The tokens of tool definitions and system prompt of subagents, which all share.
        background: The share of spawns that nothing waits for.
        depth: The most spawns between a main agent and a subagent.
        context: The most tokens of prompt and answer; a longer history is compacted.
        summary: The tokens that are left of a history that is compacted, with the system prompt before.
        block: The tokens of a block.
        spec: What was given, for the log.
    """

    sessions: int
    themes: int
    system: Callable[[Random], int]
    task: Callable[[Random], int]
    turns: Callable[[Random], int]
    result: Callable[[Random], int]
    output: Callable[[Random], int]
    tool: Callable[[Random], float]
    think: Callable[[Random], float]
    user: float
    fanout: float
    subagents: Callable[[Random], int]
    agent_turns: Callable[[Random], int]
    agent_system: Callable[[Random], int]
    background: float
    depth: int
    context: int
    summary: Callable[[Random], int]
    block: int
    spec: str


def read_agentic_form(text: str) -> AgenticForm:
    """Read `NAME=VALUE` pairs with spaces between; those that are not given have defaults.

    Args:
        text: The pairs; empty for all defaults, as is `default`.

    Raises:
        PromptError: A pair has no known name, or a value that does not fit; the message says which.
    """
    chosen = {} if text.strip() == "default" else dict(map(_pair, text.split()))
    values = {name: _value(name, value) for name, value in (DEFAULTS | chosen).items()}
    spec = " ".join(f"{name}={value}" for name, value in (DEFAULTS | chosen).items())
    assert values.keys() | {"spec"} == {field.name for field in fields(AgenticForm)}  # noqa: S101 (a table)
    return AgenticForm(**values, spec=spec)


def _pair(part: str) -> tuple[str, str]:
    name, has_value, value = part.partition("=")
    if not has_value or name not in DEFAULTS:
        raise PromptError(
            f"--agentic {part!r}: not NAME=VALUE with a known name{did_you_mean(name, DEFAULTS)}; names "
            f"are {', '.join(DEFAULTS)}"
        )
    return name, value


def _value(name: str, value: str) -> Any:
    try:
        if name in _COUNTS:
            return _count(value, _COUNTS[name])
        if name in _SHARES:
            return _share(value)
        if name in _TIMES:
            return duration(value)
    except ValueError as error:
        raise PromptError(f"--agentic {name}={value}: {error}") from error
    return lengths(f"--agentic {name}:", value).drawn


def _count(value: str, limit: int) -> int:
    if not value.isdecimal() or not 1 <= int(value[:9]) <= limit:
        raise ValueError(f"not a whole number from 1 to {limit:,}")
    return int(value)


def _share(value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError("not a share from 0 to 1")
    return share
