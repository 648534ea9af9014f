"""How answers are scored: the judge, the scorers and the limits of graders, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.sessions.secrets import lines
from loadgen.sessions.settings.scoring import (
    DEFAULT_GRADER_TIMEOUT_S,
    DEFAULT_JUDGE_CONCURRENCY,
    DEFAULT_JUDGE_TIMEOUT_S,
)
from workloads.sandbox_contract import SandboxSpec

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.judge_client import Sampling
    from loadgen.sessions.settings.scoring import JudgeSettings

DEFAULT_GRADER_MEMORY: Final = 8 * 1024**3
"""Bytes: more than any grader needs, and too little to bring down the machine."""


@dataclass(frozen=True, slots=True)
class JudgeEndpoint:
    """The endpoint that judges.

    Attributes:
        url: As given; secrets in it are the caller's to keep out of the log.
        model: The model that is asked.
        concurrency: The most requests in flight.
        timeout_s: For each request.
        api_key: Never stored.
        temperature: In place of that of the benchmark's prompts; None keeps theirs.
        max_tokens: In place of the limit of the benchmark's prompts; None keeps theirs.
    """

    url: str
    model: str
    concurrency: int = DEFAULT_JUDGE_CONCURRENCY
    timeout_s: float = DEFAULT_JUDGE_TIMEOUT_S
    api_key: str | None = field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None

    @property
    def sampling(self) -> Sampling:
        """The settings that replace the sampling of the prompts."""
        from loadgen.driver.judge_client import Sampling

        return Sampling(self.temperature, self.max_tokens)

    def facts(self) -> dict[str, Any]:
        """The judge's facts for the log, except for the endpoint; replaced settings are named."""
        replaced = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {
            "model": self.model,
            **{name: value for name, value in replaced.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class ScoringChoices:
    """How answers are scored.

    Attributes:
        scorers: `NAME` for every task that has such a scorer, or `TASK=NAME`; a task without one keeps the
            scorer that the run was started with, else its official one.
        evals: Eval functions, `module:function`, which score every task in addition to its own scorer; empty
            for those that the run was started with.
        allow_code_execution: Whether a scorer may run what the model wrote.
        judge: The judge for scorers that need one; None for no judge.
        judge_model: The judge whose replies count where no judge is called; None for the latest.
        reparse: Call no judge, and read the existing replies again.
        grader_timeout_s: The most that the grading of one answer may take; ten times as much where a scorer
            runs code.
        grader_memory: The most bytes of memory that a grading process may take.
        processes: The number of grading processes, of each node; None for one per usable core.
        data: A folder with models that graders need; None for the usual places alone.
        sandbox: Where programs of the model run.
        ray: The address of the Ray cluster whose nodes grade; None for this machine.
        nodes: How many of them; None for all that have CPUs.
    """

    scorers: tuple[str, ...] = ()
    evals: tuple[str, ...] = ()
    allow_code_execution: bool = False
    judge: JudgeEndpoint | None = None
    judge_model: str | None = None
    reparse: bool = False
    grader_timeout_s: float = DEFAULT_GRADER_TIMEOUT_S
    grader_memory: int = DEFAULT_GRADER_MEMORY
    processes: int | None = None
    data: Path | None = None
    sandbox: SandboxSpec = field(default_factory=SandboxSpec)
    ray: str | None = None
    nodes: int | None = None

    @property
    def model(self) -> str | None:
        """The judge with the counted replies; None for the latest."""
        return self.judge.model if self.judge else self.judge_model

    @property
    def sampling(self) -> str | None:
        """The sampling of the judge with the counted replies; None for the latest replies."""
        return self.judge.sampling.label if self.judge else None


def judge_of(settings: JudgeSettings) -> JudgeEndpoint | None:
    """The judge that the options name; None where they name none."""
    if settings.judge_url is None or settings.judge_model is None:
        return None
    return JudgeEndpoint(
        settings.judge_url,
        settings.judge_model,
        settings.judge_concurrency,
        settings.judge_timeout,
        lines("--judge-api-key", settings.judge_api_key)[0] if settings.judge_api_key else None,
        settings.judge_temperature,
        settings.judge_max_tokens,
    )
