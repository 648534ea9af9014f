"""IFBench: 300 prompts with 344 instructions of 58 kinds that IFEval does not have (arXiv:2507.02833).

Official are the figures of IFEval; the paper's is the share of prompts by the loose one. What an instruction
asks for is in `loadgen.plugins.evals.grading.ifbench`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.ifbench import IFBENCH
from loadgen.plugins.evals.tasks.ifeval import (
    INSTRUCTION_SHARES,
    questions,
    require,
    scored,
    shares,
    verdicts,
)
from workloads.scorer import Headline, Reference, Scorer
from workloads.workload import Source, Typical, Workload

if TYPE_CHECKING:
    from workloads.answer import Answer
    from workloads.score import Score


def grade(reference: Reference, answer: Answer) -> Score:
    """1 where every instruction is followed, loosely; the metrics have the rest."""
    return scored(reference, verdicts(reference, answer.text), by="loose")


WORKLOAD: Final = Workload(
    name="ifbench",
    title="instructions of kinds that models were not trained for",
    version=1,
    tier=1,
    category="instructions",
    typical=Typical(120, 500),
    extra="ifbench",
    source=Source(
        files=("IFBench_test.jsonl*", "ifbench*.jsonl*", "train*.parquet"),
        hub="allenai/IFBench_test",
        split="train",
        columns=("key", "prompt", "instruction_id_list", "kwargs"),
        rows=300,
        licence="ODC-BY-1.0",
    ),
    questions=questions,
    scorers=(
        Scorer(
            "official",
            1,
            grade,
            "allenai/IFBench@db69a6f: ifbench/instructions.py, ifbench/evaluation_lib.py",
            (
                Headline("prompt_loose"),
                INSTRUCTION_SHARES["loose"],
                Headline("prompt_strict", "avg(coalesce(metrics['prompt_strict'], 0))"),
                INSTRUCTION_SHARES["strict"],
                *shares("loose", IFBENCH),
                *shares("strict", IFBENCH),
            ),
            require=require,
        ),
    ),
)
