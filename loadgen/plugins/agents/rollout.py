"""Plays episodes with code: an async function, or a rollout agent loop whose model client is the `ask`."""

from __future__ import annotations

import inspect
import re
import time
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.contract import (
    COMPLETED,
    CompletionsResult,
    RolloutContext,
    RolloutMetrics,
    RolloutRequest,
    provide,
)
from loadgen.plugins.agents.episode import EpisodeResult, as_result
from workloads.episode_program import imported
from workloads.errors import EpisodeCodeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.agents.asking import EpisodeTrace
    from loadgen.plugins.agents.episode import Ask
    from workloads.sample import Sample

MAX_TURNS: Final = 10
"""The limit of turns of an agent where none is given."""

_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OWN: Final = frozenset({"max_tokens", "temperature"})

_RUN = "run"
_GET_TOOLS = "get_tools"


class ToolValidationError(EpisodeCodeError):
    """A tool of an agent cannot be offered to a model."""


class AskingClient:
    """The client of the model that a loop is given."""

    def __init__(self, ask: Ask, tools: Sequence[Mapping[str, Any]]) -> None:
        self._ask = ask
        self._tools = tools
        self._metrics = RolloutMetrics()
        self._calls: list[Mapping[str, Any]] = []

    async def chat_completions(self, messages: list[dict[str, Any]], **kwargs: Any) -> CompletionsResult:
        """Ask the model; further arguments are members of the request's body."""
        members = {name: value for name, value in kwargs.items() if name not in _OWN and name != "tools"}
        started = time.monotonic()
        reply = await self._ask(
            messages,
            tools=kwargs.get("tools", self._tools),
            max_tokens=kwargs.get("max_tokens"),
            temperature=kwargs.get("temperature"),
            body=members or None,
        )
        metrics = self._metrics
        metrics.llm_latency_ms += (time.monotonic() - started) * 1e3
        metrics.num_llm_calls += 1
        metrics.prompt_tokens += reply.input_tokens or 0
        metrics.response_tokens += reply.output_tokens
        self._calls = list(reply.tool_calls)
        logprobs = (reply.details.logprobs or {}).get("content", ())
        return CompletionsResult(
            message=dict(reply.message),
            logprobs=[token["logprob"] for token in logprobs if "logprob" in token],
            usage=reply.usage,
            finish_reason=reply.finish_reason or "stop",
        )

    def get_metrics(self) -> RolloutMetrics:
        """The measurements so far."""
        return self._metrics.model_copy()

    def next_call(self) -> Mapping[str, Any]:
        """The next call of a tool in the last answer; empty where there is none."""
        call: Mapping[str, Any] = self._calls.pop(0) if self._calls else {}
        function: Mapping[str, Any] = call.get("function") or {}
        return function


class _RecordingContext(RolloutContext):
    """A context whose tool calls are events of the log."""

    def record_tool_call(self, latency_ms: float = 0.0) -> None:
        """Count a tool call, with the duration."""
        super().record_tool_call(latency_ms)
        assert isinstance(self.llm, AskingClient)  # noqa: S101 (as it was made)
        function = self.llm.next_call()
        with self.llm._ask.tool(function.get("name", "tool"), function.get("arguments")) as record:  # noqa: SLF001
            record.duration_ms = latency_ms


async def play_loop(
    agent: Any, sample: Sample, ask: Ask, debug_dir: str | None = None, rollout_id: str | None = None
) -> EpisodeResult:
    """Play the episode of a sample with a loop.

    Raises:
        EpisodeError: No further turn could be asked.
        ToolValidationError: A tool is not one.
    """
    request = RolloutRequest(
        rollout_id=rollout_id or f"bench-{sample.index}-{time.monotonic_ns()}",
        server_url="http://127.0.0.1",
        messages=[dict(message) for message in sample.messages()],
        completion_params={},
        max_turns=ask.max_turns or MAX_TURNS,
        metadata={"execution_mode": "bench", **dict(sample.tags)},
    )
    tools = agent.get_tools(request)
    client = AskingClient(ask, tool_schemas(tools))
    result = await agent.run(_RecordingContext(request, list(tools or ()), client, _debug_dir=debug_dir))
    return result_of(agent, result)


def result_of(agent: Any, result: Any) -> EpisodeResult:
    """The return value of a loop as the result of an episode; raise `TypeError` for any other value."""
    if not hasattr(result, "final_messages") or not hasattr(result, "status"):
        name = getattr(agent, "name", type(agent).__name__)
        raise TypeError(f"{name}.run returned {type(result).__name__}, where a RolloutResult should be")
    # The status may be a member of an enumeration.
    failed = str(getattr(result.status, "value", result.status)) != COMPLETED
    return EpisodeResult(
        tuple(result.final_messages),
        reward=result.reward,
        finish_reason=result.finish_reason,
        error=(result.error_message or "the agent reports an error") if failed else None,
    )


def tool_schemas(tools: Any) -> list[Mapping[str, Any]]:
    """The tools of a loop in OpenAI's format, or raise `ToolValidationError`."""
    if not isinstance(tools, list | tuple | None):
        raise ToolValidationError(f"get_tools returned {type(tools).__name__}, where a list should be")
    return [_schema(number, tool) for number, tool in enumerate(tools or ())]


def _schema(number: int, tool: Any) -> Mapping[str, Any]:
    schema = tool.model_dump(exclude_none=True) if hasattr(tool, "model_dump") else tool
    if not isinstance(schema, dict) or not isinstance(schema.get("function"), dict):
        raise ToolValidationError(f"tool {number + 1}: is not an object with a `function`")
    function = schema["function"]
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ToolValidationError(f"tool {number + 1}: the name {name!r} is not letters, digits and _")
    if parameters is not None and (not isinstance(parameters, dict) or parameters.get("type") != "object"):
        raise ToolValidationError(f"tool {name}: the parameters must be of the type object")
    return schema


class EpisodePlayer:
    """Plays episodes with the code of a name.

    Args:
        code: `module:attribute`: an async function `(sample, ask, sandbox)`, or a rollout agent loop: a class
            or an instance with `get_tools` and `run`.
        sequential: Whether one instance of a class plays all samples, and keeps its state.

    Raises:
        EpisodeCodeError: It cannot be imported, or is neither.
    """

    def __init__(self, code: str, paths: Sequence[str] = (), *, sequential: bool = False) -> None:

        provide()
        self._agent: Any = imported(code, paths)
        if not is_loop(self._agent) and not callable(self._agent):
            raise EpisodeCodeError(
                f"{code}: is {type(self._agent).__name__}, and neither an async function (sample, ask, "
                "sandbox) nor an agent loop with get_tools and run"
            )
        if sequential and inspect.isclass(self._agent):
            self._agent = self._agent()

    async def play(
        self, sample: Sample, ask: Ask, sandbox: Any, trace: EpisodeTrace | None = None
    ) -> EpisodeResult:
        """Play the episode of a sample; a loop's `log_event` writes into the trace."""
        agent: Any = self._agent() if inspect.isclass(self._agent) else self._agent
        if is_loop(agent):
            where = (None, None) if trace is None else (trace.folder, trace.name)
            return await play_loop(agent, sample, ask, *where)
        value = agent(sample, ask, sandbox)
        return as_result(await value if inspect.isawaitable(value) else value)


def is_loop(agent: Any) -> bool:
    """Whether an agent follows the contract of rollout agent loops."""
    return callable(getattr(agent, _RUN, None)) and callable(getattr(agent, _GET_TOOLS, None))
