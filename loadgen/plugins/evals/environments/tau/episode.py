"""An episode of tau-bench: sierra-research/tau-bench at 59a200c6, `agents/tool_calling_agent.py`.

The agent has tools over a database and talks to a simulated user, who knows the task. It may take 30 steps:
a call of one tool, or a message to the user.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.agents.simulated_user import SimulatedUser
from loadgen.plugins.evals.environments.tau.airline import airline_tools
from loadgen.plugins.evals.environments.tau.retail import retail_tools
from loadgen.plugins.evals.environments.tau.reward import act
from loadgen.plugins.evals.prompts import prompt
from workloads.sources import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.agents.toolset import State, Toolset
    from workloads.episode_program import EpisodeSample


MOST_STEPS: Final = 30
TOOLS: Final[Mapping[str, Callable[[], Toolset]]] = {"airline": airline_tools, "retail": retail_tools}

_USER: Final = prompt("tau_bench", "user")
"""The prompt of the user (MIT, Copyright (c) Sierra)."""


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Play a task; the details have the digests of the actual and the expected database."""
    data, files = sample.episode.data, sample.episode.files
    tools, state = TOOLS[data["domain"]](), fresh(files)
    user = SimulatedUser(_USER.format(instruction=data["instruction"]))
    conversation = [*sample.messages(), _from_user(await user.first(ask))]
    for _ in range(MOST_STEPS):
        reply = await ask(conversation, tools=tools.schemas)
        if not reply.tool_calls:
            text = await user.says(ask, reply.text)
            conversation += [reply.message, _from_user(text)]
            if user.is_over(text):
                return _ended(conversation, "user_stop", tools, state, data, files)
            continue
        # Further calls of the message are left out.
        call = reply.tool_calls[0]
        name, arguments = call["function"]["name"], call["function"].get("arguments") or "{}"
        if not _is_object(arguments):
            return EpisodeResult([*conversation, reply.message], finish_reason="arguments_not_json")
        with ask.tool(name, arguments) as record:
            record.result = tools.observe(state, name, arguments)
        result = {"role": "tool", "tool_call_id": call.get("id", ""), "name": name, "content": record.result}
        conversation += [{**reply.message, "tool_calls": [call]}, result]
        if name in tools.ending:
            return _ended(conversation, name, tools, state, data, files)
    return EpisodeResult(conversation, finish_reason="too_many_steps")


def _from_user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _ended(
    conversation: list[Any],
    reason: str,
    tools: Toolset,
    state: dict[str, Any],
    data: Mapping[str, Any],
    files: Mapping[str, str],
) -> EpisodeResult:
    details = {"database": digest(state), "expected": digest(act(tools, fresh(files), data["actions"]))}
    return EpisodeResult(conversation, finish_reason=reason, details=details)


_CONSTANT: Final = frozenset({"flights", "products"})
"""Tables that no tool changes: all episodes share them."""


def fresh(files: Mapping[str, str]) -> State:
    """A copy of a database for one episode."""
    return {
        name: _parsed(path) if name in _CONSTANT else orjson.loads(_content(path))
        for name, path in files.items()
    }


def digest(state: State) -> str:
    """SHA-256 of the mutable tables, independent of key order."""
    tables = {name: table for name, table in state.items() if name not in _CONSTANT}
    return sha256(orjson.dumps(tables, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)).hexdigest()


@cache
def _content(path: str) -> bytes:
    return plain(Path(path), Path(path).read_bytes())


@cache
def _parsed(path: str) -> Any:
    return orjson.loads(_content(path))
