"""Rules that score what an agent left behind: logs of tests, databases, calls (docs/agent-rules.md)."""

from __future__ import annotations

from loadgen.plugins.evals.environments.tau import airline as tau_airline
from loadgen.plugins.evals.environments.tau import retail as tau_retail
from loadgen.plugins.evals.environments.tau import reward as tau_bench
from loadgen.plugins.evals.environments.tau2 import world_opening as tau2_world
from loadgen.plugins.evals.grading import (
    anomaly,
    harbor_reward,
    lifelong_agent,
    shopping_cart,
    swe_bench_pro,
    swefficiency,
    tau2,
    terminal_pane,
    web_answer,
)
from loadgen.plugins.evals.grading.swe_bench import infrastructure as swe_bench_infrastructure
from loadgen.plugins.evals.grading.swe_bench import resolution as swe_bench
from loadgen.plugins.evals.grading.swe_bench import test_log as swe_bench_log
from loadgen.plugins.evals.grading.travel import travel_database
from loadgen.plugins.evals.grading.travel import travel_score as travel

__all__ = [
    "anomaly",
    "harbor_reward",
    "lifelong_agent",
    "shopping_cart",
    "swe_bench",
    "swe_bench_infrastructure",
    "swe_bench_log",
    "swe_bench_pro",
    "swefficiency",
    "tau2",
    "tau2_world",
    "tau_airline",
    "tau_bench",
    "tau_retail",
    "terminal_pane",
    "travel",
    "travel_database",
    "web_answer",
]
