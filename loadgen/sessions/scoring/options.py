"""What can be said about a scoring pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.judge_client import Sampling

DEFAULT_GRADER_TIMEOUT_S: Final = 120.0
"""More than any grader takes; what a model wrote and a scorer runs has limits of its own."""

DEFAULT_GRADER_MEMORY: Final = 8 * 1024**3
"""Bytes: more than any grader needs, and too little to bring down the machine."""

DEFAULT_JUDGE_CONCURRENCY: Final = 8
DEFAULT_JUDGE_TIMEOUT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class JudgeEndpoint:
    """The endpoint that judges.

    Attributes:
        url: As given; secrets in it are the caller's to keep out of the log.
        model: The model that is asked.
        concurrency: The most requests in flight.
        timeout_s: For each request.
        api_key: Never kept.
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
        """What replaces the sampling of the prompts."""
        from loadgen.driver.judge_client import Sampling

        return Sampling(self.temperature, self.max_tokens)

    def facts(self) -> dict[str, Any]:
        """What the log keeps of how it is asked, but for the endpoint: what is replaced is named."""
        replaced = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {
            "model": self.model,
            **{name: value for name, value in replaced.items() if value is not None},
        }


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How answers are scored.

    Attributes:
        scorers: `NAME` for every task that has such a scorer, or `TASK=NAME`; a task that none of them is for
            keeps what the run was started with, else its official one.
        evals: Eval functions, `module:function`, which score every task beside its own scorer; empty for
            those that the run was started with.
        allow_code_execution: Whether a scorer may run what the model wrote.
        judge: Who judges, where a scorer asks; None for nobody.
        judge_model: Of the judge whose word counts where nobody is asked; None for whichever judged last.
        reparse: Ask nobody, and read again what judges have said.
        grader_timeout_s: The most that the grading of one answer may take; ten times as much where a scorer
            runs code.
        grader_memory: The most bytes of memory that a grading process may take.
        processes: How many grade at once; None for one a usable core.
        data: A folder that models which graders take are looked for in; None for the usual places alone.
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

    @property
    def model(self) -> str | None:
        """The judge whose word counts; None for whichever judged last."""
        return self.judge.model if self.judge else self.judge_model

    @property
    def sampling(self) -> str | None:
        """How the judge whose word counts is sampled; None for whatever was said last."""
        return self.judge.sampling.label if self.judge else None
