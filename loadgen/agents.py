"""The API for agents: the contract of agent loops, and episodes as async functions."""

from __future__ import annotations

from loadgen.sessions.agents.bench import (
    BenchEvalSummary,
    BenchResult,
    BenchRowResult,
    BenchRunner,
    BenchRunResult,
    EvalFnError,
    EvalFnWrapper,
)
from loadgen.sessions.agents.datasets import (
    DatasetParseError,
    DatasetReader,
    DatasetValidationError,
    load_eval_fns,
)
from loadgen.sessions.agents.llm_client import ExternalLLMClient, ProviderError
from workloads.episodes.contract import (
    CompletionsResult,
    OpenAIFunctionCallSchema,
    OpenAIFunctionParametersSchema,
    OpenAIFunctionParsedSchema,
    OpenAIFunctionPropertySchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolCall,
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutMetrics,
    RolloutRequest,
    RolloutResult,
)
from workloads.episodes.episode import Ask, EpisodeError, EpisodeResult, Reply
from workloads.episodes.rollout import ToolValidationError
from workloads.episodes.simulated_user import SimulatedUser, converse
from workloads.episodes.tool_loop import Tool, tool_loop

__all__ = [
    "Ask",
    "BenchEvalSummary",
    "BenchResult",
    "BenchRowResult",
    "BenchRunResult",
    "BenchRunner",
    "CompletionsResult",
    "DatasetParseError",
    "DatasetReader",
    "DatasetValidationError",
    "EpisodeError",
    "EpisodeResult",
    "EvalFnError",
    "EvalFnWrapper",
    "ExternalLLMClient",
    "OpenAIFunctionCallSchema",
    "OpenAIFunctionParametersSchema",
    "OpenAIFunctionParsedSchema",
    "OpenAIFunctionPropertySchema",
    "OpenAIFunctionSchema",
    "OpenAIFunctionToolCall",
    "OpenAIFunctionToolSchema",
    "ProviderError",
    "Reply",
    "RolloutAgentLoop",
    "RolloutContext",
    "RolloutMetrics",
    "RolloutRequest",
    "RolloutResult",
    "SimulatedUser",
    "Tool",
    "ToolValidationError",
    "converse",
    "load_eval_fns",
    "tool_loop",
]
