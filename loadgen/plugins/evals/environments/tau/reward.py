"""The reward of an episode of tau-bench: sierra-research/tau-bench at 59a200c6, `tau_bench/envs/base.py`.

1 where the database is what the task's own actions make of it, and each of the task's outputs occurs in a
reply of the agent. Else 0, as for an episode that does not end.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.plugins.agents.toolset import State, Toolset


@dataclass(frozen=True, slots=True)
class Reward:
    """The reward of an episode."""

    value: float
    database_matches: bool
    outputs: Mapping[str, bool]


def table_text(table: Any) -> str:
    """A table in the form that the database hash reads, independent of key order."""
    return str(_ordered(table))


def database_hash(state: State, texts: Mapping[str, str] | None = None) -> str:
    """SHA-256 of a database.

    Args:
        state: The database.
        texts: The texts of tables that cannot have changed, see `table_text`: a hash of them is slow.
    """
    table_texts = texts or {}
    pairs = [f"({name!r}, {table_texts.get(name) or table_text(state[name])})" for name in sorted(state)]
    return sha256(f"({', '.join(pairs)}{',' * (len(pairs) == 1)})".encode()).hexdigest()


def act(tools: Toolset, state: State, actions: Iterable[Mapping[str, Any]]) -> State:
    """Apply a task's expected actions, `{"name", "kwargs"}`, to a database and return the database."""
    for action in actions:
        if action["name"] not in tools.ending:
            tools.observe(state, action["name"], action["kwargs"])
    return state


def same_database(state: State, expected: State) -> bool:
    """Whether two databases have equal hashes; shared table objects are not read."""
    return state.keys() == expected.keys() and all(
        table is expected[name]
        or json.dumps(table, sort_keys=True) == json.dumps(expected[name], sort_keys=True)
        for name, table in state.items()
    )


def reward_of(state: State, expected: State, replies: Sequence[str], outputs: Iterable[str]) -> Reward:
    """Judge an episode that has ended.

    Args:
        state: The database at its end.
        expected: The database after the task's actions, see `act`.
        replies: The messages of the agent to the user.
        outputs: The texts that they must contain; case and commas of a reply are ignored.
    """
    spoken = spoken_outputs(replies, outputs)
    matches = same_database(state, expected)
    return Reward(float(matches and all(spoken.values())), matches, spoken)


def spoken_outputs(replies: Iterable[str], outputs: Iterable[str]) -> dict[str, bool]:
    """Whether each required text is in a reply; case and the reply's commas are ignored."""
    contents = [reply.lower().replace(",", "") for reply in replies]
    return {output: any(output.lower() in reply for reply in contents) for output in outputs}


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((key, _ordered(value[key])) for key in sorted(value))
    return tuple(map(_ordered, value)) if isinstance(value, list) else value
