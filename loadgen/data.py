"""Prompts, benchmarks, tool sets and traces as datasets, and the sandbox in which answers run."""

from __future__ import annotations

from loadgen.plugins.sandbox.opening import async_sandbox, open_sandbox
from loadgen.plugins.tool_selection.scenarios import get_benchmark_scenarios
from loadgen.plugins.tool_selection.tool_files import load_model_config
from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from workloads.benchmark import dataset as benchmarks
from workloads.prompts import load_prompts
from workloads.sandbox_contract import SandboxSpec
from workloads.synthetic import synthetic_prompts
from workloads.task import parse as task
from workloads.traces.replayed import questions as trace_dataset
from workloads.traces.replayed_part import TracePart, read_trace

__all__ = [
    "SandboxSpec",
    "TracePart",
    "async_sandbox",
    "benchmarks",
    "get_benchmark_scenarios",
    "load_model_config",
    "load_prompts",
    "load_tool_set",
    "open_sandbox",
    "read_trace",
    "synthetic_prompts",
    "task",
    "trace_dataset",
]
