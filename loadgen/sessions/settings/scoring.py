"""The options of scoring, declared once for every command that scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from lazy_dataclasses import dataclass, field
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel

if TYPE_CHECKING:
    from workloads.sandbox_contract import SandboxSpec

DEFAULT_GRADER_TIMEOUT_S: Final = 120.0
"""Seconds: more than any grader takes; a model's program that a scorer runs has its own limits."""

DEFAULT_JUDGE_CONCURRENCY: Final = 8
DEFAULT_JUDGE_TIMEOUT_S: Final = 120.0


SCORING: Final = Panel("Scoring")

AllowCodeExecution = Annotated[
    bool,
    SCORING.declares(
        "Run the programs that the model wrote, and the commands of episodes, in a sandbox.",
        "--allow-code-execution",
    ),
]
JudgeApiKey = Annotated[
    str | None,
    SCORING.declares(
        "The judge's API key, preferably in the environment; @FILE reads a file. Never logged.",
        envvar=("LOADGEN_JUDGE_API_KEY",),
        stored=False,
        instead="a key does not belong into a file: LOADGEN_JUDGE_API_KEY of the environment holds it",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerSettings:
    """The options of scorers, and of the programs that they run."""

    scorer: list[str] = SCORING.option(
        "Score by this definition in place of the official one; repeatable.", [], metavar="[TASK=]NAME"
    )
    eval_function: list[str] = SCORING.option(
        "Score by your own function as well; repeatable.", [], "--eval", metavar="MODULE:FUNCTION"
    )
    allow_code_execution: AllowCodeExecution = False
    sandbox: Literal["local", "docker", "none"] = SCORING.option(
        "Where to run model-written programs and commands: in isolated processes of this machine, or in "
        "containers. none: also where the kernel cannot isolate programs, so that they can do whatever "
        "you can.",
        "local",
    )
    sandbox_image: str | None = SCORING.option(
        "For containers: an image's name, a Dockerfile or its folder, or a root file system as .tar. "
        "Default: python:3.12-slim.",
        metavar="IMAGE|DIR|FILE",
    )

    @property
    def place(self) -> SandboxSpec:
        """Where programs run."""
        from workloads.sandbox_contract import SandboxSpec

        return SandboxSpec(self.sandbox, image=self.sandbox_image or "")


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """The options of the judge."""

    judge_url: str | None = SCORING.option(
        "Endpoint of the judge model, for benchmarks with a judge.", metavar="URL"
    )
    judge_model: str | None = SCORING.option("Name of the judge model.", metavar="NAME")
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    judge_concurrency: int = SCORING.option(
        "At most N requests to the judge in flight.", DEFAULT_JUDGE_CONCURRENCY
    )
    judge_timeout: Seconds = SCORING.option("Time limit of a request to the judge.", DEFAULT_JUDGE_TIMEOUT_S)
    judge_temperature: float | None = SCORING.option(
        "Sampling temperature of the judge. Default: as in the benchmark's prompts.", metavar="T"
    )
    judge_max_tokens: int | None = SCORING.option(
        "The most output tokens of the judge, in place of the limit of the benchmark's prompts."
    )
