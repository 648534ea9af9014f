"""The contract of rollout agent loops: base classes that an agent is written against.

The names and their behavior are those of the Osmosis SDK at commit dd7fbe61, whose releases no longer have
them. An agent loop that imports them from `osmosis_ai.rollout` finds these where that package is not
installed (`provide`); a new one imports them from `loadgen.agents`.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel, Field

from lazy_dataclasses import dataclass, field

COMPLETED: Final = "COMPLETED"
ERROR: Final = "ERROR"

_PACKAGE: Final = "osmosis_ai"
_MODULES: Final = (
    *("osmosis_ai", "osmosis_ai.rollout", "osmosis_ai.rollout.core", "osmosis_ai.rollout.core.base"),
    *("osmosis_ai.rollout.core.schemas", "osmosis_ai.rollout.client"),
)


class OpenAIFunctionPropertySchema(BaseModel):
    """A parameter of a tool."""

    type: str
    description: str | None = None
    enum: list[str] | None = None


class OpenAIFunctionParametersSchema(BaseModel):
    """The parameters of a tool; `type` is `object`."""

    type: str
    properties: dict[str, OpenAIFunctionPropertySchema]
    required: list[str]


class OpenAIFunctionSchema(BaseModel):
    """The function that a tool is."""

    name: str
    description: str
    parameters: OpenAIFunctionParametersSchema = Field(
        default_factory=lambda: OpenAIFunctionParametersSchema(type="object", properties={}, required=[])
    )
    strict: bool = False


class OpenAIFunctionToolSchema(BaseModel):
    """A tool in OpenAI's format; `type` is `function`."""

    type: str
    function: OpenAIFunctionSchema


class OpenAIFunctionParsedSchema(BaseModel):
    """A tool call in a model's notation: arguments are JSON text."""

    name: str
    arguments: str


class OpenAIFunctionCallSchema(BaseModel):
    """A tool call with arguments as values."""

    name: str
    arguments: dict[str, Any]

    @staticmethod
    def from_openai_function_parsed_schema(
        parsed_schema: OpenAIFunctionParsedSchema,
    ) -> tuple[OpenAIFunctionCallSchema, bool]:
        """Read the arguments; the second value says whether that failed, and then there are none."""
        try:
            arguments = json.loads(parsed_schema.arguments)
        except json.JSONDecodeError:
            arguments = None
        is_object = isinstance(arguments, dict)
        return (
            OpenAIFunctionCallSchema(name=parsed_schema.name, arguments=arguments if is_object else {}),
            not is_object,
        )


class OpenAIFunctionToolCall(BaseModel):
    """A call of a tool."""

    id: str
    type: Literal["function"] = "function"
    function: OpenAIFunctionCallSchema


class RolloutRequest(BaseModel):
    """A request to an agent.

    Attributes:
        server_url: Kept for the contract; the client of the context is what asks.
        completion_params: Sampling settings, which the loop passes on itself.
        max_turns: The most calls of the model, which the loop heeds itself.
        max_tokens_total: The most tokens, as above.
        metadata: Facts about the rollout; `execution_mode` is `bench`.
    """

    rollout_id: str = Field(min_length=1, max_length=256)
    server_url: str
    messages: list[dict[str, Any]]
    completion_params: dict[str, Any]
    tool_server_url: str | None = None
    max_turns: int = 10
    max_tokens_total: int = 8192
    metadata: dict[str, Any] = Field(default_factory=dict)
    api_key: str | None = None
    idempotency_key: str | None = None


class RolloutMetrics(BaseModel):
    """The measurements of a rollout: times in ms."""

    total_latency_ms: float = 0.0
    llm_latency_ms: float = 0.0
    tool_latency_ms: float = 0.0
    num_llm_calls: int = 0
    num_tool_calls: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    max_context_tokens: int = 0


@dataclass
class CompletionsResult:
    """An answer of the model."""

    message: dict[str, Any]
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)
    finish_reason: str = "stop"

    @property
    def has_tool_calls(self) -> bool:
        """Whether the answer calls tools."""
        return bool(self.message.get("tool_calls"))

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls, in OpenAI's format."""
        return self.message.get("tool_calls") or []


class LLMClient(Protocol):
    """The model client of a context."""

    async def chat_completions(self, messages: list[dict[str, Any]], **kwargs: Any) -> CompletionsResult:
        """Ask the model."""

    def get_metrics(self) -> RolloutMetrics:
        """The measurements so far."""


@dataclass
class RolloutResult:
    """The result of a loop; `status` is COMPLETED or ERROR."""

    status: str
    final_messages: list[dict[str, Any]]
    finish_reason: str
    error_message: str | None = None
    metrics: RolloutMetrics | None = None
    reward: float | None = None


@dataclass
class RolloutContext:
    """The context of a loop."""

    request: RolloutRequest
    tools: list[Any]
    llm: LLMClient
    _start_time: float = field(default_factory=time.monotonic, repr=False)
    _tool_latency_ms: float = field(default=0.0, repr=False)
    _num_tool_calls: int = field(default=0, repr=False)
    _debug_dir: str | None = field(default=None, repr=False)

    async def chat(self, messages: list[dict[str, Any]], **kwargs: Any) -> CompletionsResult:
        """Ask the model; further arguments are members of the request's body."""
        return await self.llm.chat_completions(messages, **kwargs)

    def complete(
        self,
        final_messages: list[dict[str, Any]],
        finish_reason: str = "stop",
        reward: float | None = None,
    ) -> RolloutResult:
        """A success."""
        return RolloutResult(COMPLETED, final_messages, finish_reason, None, self._metrics(), reward)

    def error(self, error_message: str, final_messages: list[dict[str, Any]] | None = None) -> RolloutResult:
        """A failure."""
        return RolloutResult(ERROR, final_messages or [], "error", error_message, self._metrics())

    def record_tool_call(self, latency_ms: float = 0.0) -> None:
        """Count a call of a tool."""
        self._num_tool_calls += 1
        self._tool_latency_ms += latency_ms

    @property
    def debug_enabled(self) -> bool:
        """Whether `log_event` writes."""
        return self._debug_dir is not None

    def log_event(self, event_type: str, **data: Any) -> None:
        """Append an event to the rollout's file in the debug folder; without a folder do nothing."""
        if self._debug_dir is None:
            return
        entry = {"event": event_type, "rollout_id": self.request.rollout_id, **data}
        path = Path(self._debug_dir, f"{self.request.rollout_id}.jsonl")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, default=str) + "\n")
        except OSError as error:
            warnings.warn(f"{path}: the event is not written ({error})", stacklevel=2)

    def _metrics(self) -> RolloutMetrics:
        metrics = self.llm.get_metrics()
        return metrics.model_copy(
            update={
                "total_latency_ms": (time.monotonic() - self._start_time) * 1e3,
                "tool_latency_ms": self._tool_latency_ms,
                "num_tool_calls": self._num_tool_calls,
            }
        )


class RolloutAgentLoop(ABC):
    """An agent: a subclass has a `name`, tools, and the loop.

    Raises:
        TypeError: When a concrete subclass is defined without a name.
    """

    name: str

    @abstractmethod
    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """The tools for a rollout; empty for none."""

    @abstractmethod
    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Work until the task is done."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make sure that a concrete class has a name."""
        super().__init_subclass__(**kwargs)
        is_abstract = any(
            getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in ("get_tools", "run")
        )
        if not is_abstract and not getattr(cls, "name", None):
            raise TypeError(f"Agent loop class {cls.__name__} must define a 'name' class attribute")


_PUBLIC: Final[tuple[type, ...]] = (
    *(RolloutAgentLoop, RolloutContext, RolloutResult, RolloutRequest, RolloutMetrics, CompletionsResult),
    *(OpenAIFunctionToolSchema, OpenAIFunctionSchema, OpenAIFunctionParametersSchema),
    *(OpenAIFunctionPropertySchema, OpenAIFunctionParsedSchema, OpenAIFunctionCallSchema),
    OpenAIFunctionToolCall,
)


def provide() -> None:
    """Let agents import these classes under the SDK's names, if the SDK is not installed."""
    if _PACKAGE in sys.modules or importlib.util.find_spec(_PACKAGE) is not None:
        return
    for name in _MODULES:
        module = ModuleType(name, f"The contract of agent loops, by {__name__}.")
        module.__path__ = []
        for public in _PUBLIC:
            setattr(module, public.__name__, public)
        sys.modules[name] = module
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, module)
