"""IFBench: 300 prompts with 344 instructions of 58 kinds that IFEval does not have (arXiv:2507.02833).

Official are the figures of IFEval; the paper's is the share of prompts by the loose one. What an instruction
asks for is in `loadgen.plugins.evals.grading.ifbench`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.ifbench import IFBENCH
from loadgen.plugins.evals.headlines import metric_means
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from loadgen.plugins.evals.tasks.ifeval import (
    INSTRUCTION_SHARES,
    questions,
    require,
    scored,
    shares,
    verdicts,
)
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from workloads.answer import Answer
    from workloads.score import Score


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where every instruction is followed, loosely; the metrics have the rest."""
    return scored(reference, verdicts(reference, answer.text), by="loose")


WORKLOAD: Final = benchmark(
    "ifbench",
    questions,
    official=ScoreRule(
        grade,
        require=require,
        headlines=(
            Headline("prompt_loose"),
            INSTRUCTION_SHARES["loose"],
            *metric_means("prompt_strict"),
            INSTRUCTION_SHARES["strict"],
            *shares("loose", IFBENCH),
            *shares("strict", IFBENCH),
        ),
    ),
)
