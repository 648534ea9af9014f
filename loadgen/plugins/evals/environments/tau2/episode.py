"""An episode of tau2: sierra-research/tau2-bench at a2c02472, `orchestrator/orchestrator.py`, half-duplex.

Agent and user take turns; each either says something or calls tools, whose results only it reads. A message
and a round of tools are a step each.
"""

from __future__ import annotations

import textwrap
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.agents.episode import EpisodeResult
from loadgen.plugins.evals.environments.tau2.world_opening import open_world
from loadgen.plugins.evals.prompts import prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.agents.episode import Ask
    from loadgen.plugins.evals.environments.tau2.world import World
    from workloads.episode_program import EpisodeSample
    from workloads.sample import Message

MOST_STEPS: Final = 200
MOST_ERRORS: Final = 10
GREETING: Final = "Hi! How can I help you today?"
_STOPS: Final = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
_AGENT: Final = prompt("tau2", "agent")


@dataclass(slots=True)
class _Party:
    """The agent or the user."""

    name: str
    messages: list[Message]
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(slots=True)
class _Simulation:
    """The course of an episode."""

    world: World
    trajectory: list[Message] = field(default_factory=list)
    steps: int = 0
    errors: int = 0

    def is_over(self) -> str | None:
        """The limit reached; None below all limits."""
        if self.steps >= MOST_STEPS:
            return "max_steps"
        return "too_many_errors" if self.errors >= MOST_ERRORS else None


def agent_prompt(policy: str) -> str:
    """The system prompt of the agent."""
    return _AGENT.format(policy=policy)


def user_prompt(scenario: Mapping[str, Any], *, has_tools: bool) -> str:
    """The system prompt of the user: the guidelines, and the task's scenario as text."""
    name = "user_guidelines_tools.md" if has_tools else "user_guidelines.md"
    guidelines = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    lines = []
    if scenario.get("persona") is not None:
        lines += ["Persona:", textwrap.indent(scenario["persona"], "\t")]
    lines += ["Instructions:", textwrap.indent(_instructions(scenario["instructions"]), "\t")]
    return f"{guidelines}\n\n<scenario>\n{chr(10).join(lines)}\n</scenario>"


def _instructions(instructions: Mapping[str, Any] | str) -> str:
    if isinstance(instructions, str):
        return instructions
    lines = [f"Domain: {instructions['domain']}"]
    for title, member in (
        ("Reason for call", "reason_for_call"),
        ("Known info", "known_info"),
        ("Unknown info", "unknown_info"),
        ("Task instructions", "task_instructions"),
    ):
        if instructions.get(member) is not None:
            lines.append(f"{title}:\n{textwrap.indent(instructions[member], chr(9))}")
    return "\n".join(lines)


async def play(sample: EpisodeSample, ask: Ask, sandbox: object) -> EpisodeResult:  # noqa: ARG001 (the contract)
    """Play a task; the details have the ending and the judged facts of the world."""
    data, paths = sample.episode.data, sample.episode.files
    world = open_world(data["domain"], paths, data["initial"])
    greeting = {"role": "assistant", "content": GREETING}
    agent = _Party("assistant", [*sample.messages(), greeting], world.tools("assistant"))
    user_tools = world.tools("user")
    system = {"role": "system", "content": user_prompt(data["scenario"], has_tools=bool(user_tools))}
    user = _Party("user", [system, {"role": "user", "content": GREETING}], user_tools)
    simulation = _Simulation(world, [greeting])
    ending = await _simulated(simulation, agent, user, ask)
    expected = open_world(data["domain"], paths, data["initial"])
    for action in data["actions"]:
        expected.act(action)
    details = {
        "termination": ending,
        "database": world.digest(),
        "expected": expected.digest(),
        "assertions": [world.holds(assertion) for assertion in data["assertions"]],
    }
    return EpisodeResult(simulation.trajectory, finish_reason=ending, details=details)


async def _simulated(simulation: _Simulation, agent: _Party, user: _Party, ask: Ask) -> str:
    """Let agent and user alternate until the user stops, or a limit or an error."""
    while True:
        for speaker, hearer in ((user, agent), (agent, user)):
            text = await _turn(simulation, speaker, ask)
            if text is None:
                return simulation.is_over() or f"{speaker.name}_error"
            hearer.messages.append({"role": "user", "content": text})
            if speaker is user and any(stop in text for stop in _STOPS):
                return "user_stop"
            if (limit := simulation.is_over()) is not None:
                return limit


async def _turn(simulation: _Simulation, party: _Party, ask: Ask) -> str | None:
    """Let one party call tools until a message; None at a limit or an error."""
    while True:
        if party.name == "user":
            reply = await ask.user(party.messages, tools=party.tools)
        else:
            reply = await ask(party.messages, tools=party.tools)
        simulation.steps += 1
        party.messages.append(reply.message)
        simulation.trajectory.append({**reply.message, "role": party.name})
        if not reply.tool_calls:
            return reply.text if reply.text.strip() else None
        calls = reply.read_calls()
        if calls is None:
            return None
        for call in calls:
            with ask.tool(call.name, call.arguments) as record:
                observation = simulation.world.call(party.name, call.name, call.arguments)
                record.result = observation.text
                record.error = observation.text if observation.failed else None
            simulation.errors += observation.failed
            result = {"role": "tool", "tool_call_id": call.identifier, "content": observation.text}
            party.messages.append(result)
            simulation.trajectory.append({**result, "requestor": party.name})
        simulation.steps += 1
        if simulation.is_over() is not None:
            return None
