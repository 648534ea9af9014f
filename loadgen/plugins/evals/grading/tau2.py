"""tau2: parts of the reward of a simulation, and the product.

sierra-research/tau2-bench at a2c02472, `src/tau2/evaluator`. ACTION and COMMUNICATE are rules over the
messages. DB and ENV_ASSERTION need the world at the end, NL_ASSERTION a judge: their parts are passed in.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENDED: Final = frozenset({"agent_stop", "user_stop"})
"""How a simulation ends in which something can be earned."""


def action_checks(
    messages: Sequence[Mapping[str, Any]], actions: Sequence[Mapping[str, Any]] | None
) -> list[bool]:
    """Whether each of a task's actions was called, by the agent or the user.

    `compare_args` names the arguments that count: all of the call's own where it is None, and none where it
    is empty.
    """
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return [any(_matches(action, call) for call in calls) for action in actions or ()]


def communicate_checks(
    messages: Sequence[Mapping[str, Any]], information: Sequence[str] | None
) -> list[bool]:
    """Whether each text is in one message of the agent; case and the message's commas do not matter."""
    contents = [
        message["content"].lower().replace(",", "")
        for message in messages
        if message["role"] == "assistant" and (message["content"] or "").strip()
    ]
    return [any(text.lower() in content for content in contents) for text in information or ()]


def simulation_reward(termination: str, basis: Sequence[str] | None, parts: Mapping[str, float]) -> float:
    """The reward of a simulation: the product of the relevant parts; 0 for a premature end.

    Args:
        termination: Its `termination_reason`.
        basis: Parts that count, the task's `reward_basis`; None for a task without criteria.
        parts: 0 or 1 by part: `DB`, `ENV_ASSERTION`, `ACTION`, `COMMUNICATE`, `NL_ASSERTION`.

    Raises:
        MalformedError: A part that counts is missing.
    """
    if termination not in ENDED:
        return 0.0
    missing = sorted(set(basis or ()) - parts.keys())
    if missing:
        raise MalformedError(f"the reward needs {', '.join(missing)}, which was not evaluated")
    return prod(parts[part] for part in sorted(set(basis or ())))


def _matches(action: Mapping[str, Any], call: Mapping[str, Any]) -> bool:
    if action["name"] != call["name"]:
        return False
    compared = action.get("compare_args")
    compared = call["arguments"].keys() if compared is None else compared
    called, expected = (
        {name: value for name, value in arguments.items() if name in compared}
        for arguments in (call["arguments"], action["arguments"])
    )
    return called == expected
