"""The API for agents: the contract of agent loops, and episodes as async functions."""

from __future__ import annotations

from loadgen.plugins.agents.bench import (
    BenchEvalSummary,
    BenchResult,
    BenchRowResult,
    BenchRunner,
    BenchRunResult,
    EvalFnError,
    EvalFnWrapper,
)
from loadgen.plugins.agents.contract import (
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
from loadgen.plugins.agents.datasets import (
    DatasetParseError,
    DatasetReader,
    DatasetValidationError,
    load_eval_fns,
)
from loadgen.plugins.agents.episode import Ask, EpisodeError, EpisodeResult, Reply
from loadgen.plugins.agents.llm_client import ExternalLLMClient, ProviderError
from loadgen.plugins.agents.rollout import ToolValidationError
from loadgen.plugins.agents.simulated_user import SimulatedUser, converse
from loadgen.plugins.agents.tool_loop import Tool, tool_loop

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
