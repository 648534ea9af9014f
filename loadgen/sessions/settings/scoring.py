"""The options of scoring, declared once for every command that scores, and how answers are then scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel
from workloads.sandbox_contract import SandboxKind, SandboxSpec

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.judge_client import Sampling

DEFAULT_GRADER_TIMEOUT_S: Final = 120.0
"""Seconds: more than any grader takes; a model's program that a scorer runs has its own limits."""

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


SCORING: Final = Panel("Scoring")

MOST_JUDGE_CONCURRENCY: Final = 10_000
MOST_JUDGE_TIMEOUT_S: Final = 86_400.0
MOST_JUDGE_TEMPERATURE: Final = 10.0
MOST_JUDGE_TOKENS: Final = 10_000_000

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
    sandbox: SandboxKind = SCORING.option(
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

    def check(self) -> None:
        """Refuse an image without containers."""
        if self.sandbox_image is not None and self.sandbox != "docker":
            raise UsageError(f"--sandbox-image {self.sandbox_image}: needs --sandbox docker")

    @property
    def place(self) -> SandboxSpec:
        """Where programs run."""
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

    def check(self) -> None:
        """Refuse half a judge, and limits that are out of bounds."""
        url, concurrency, timeout_s = self.judge_url, self.judge_concurrency, self.judge_timeout
        temperature, limit = self.judge_temperature, self.judge_max_tokens
        if (url is None) != (self.judge_model is None):
            present_option, missing = ("url", "model") if self.judge_model is None else ("model", "url")
            raise UsageError(
                f"--judge-{present_option}: a judge is an endpoint and a model: give --judge-{missing} too"
            )
        if url is None and (temperature is not None or limit is not None):
            option = "--judge-max-tokens" if temperature is None else "--judge-temperature"
            raise UsageError(f"{option}: there is no judge to ask: give --judge-url and --judge-model too")
        if not 1 <= concurrency <= MOST_JUDGE_CONCURRENCY:
            raise UsageError(f"--judge-concurrency {concurrency}: must be from 1 to {MOST_JUDGE_CONCURRENCY}")
        if not 0 < timeout_s <= MOST_JUDGE_TIMEOUT_S:
            raise UsageError(f"--judge-timeout {timeout_s:g}: must be above 0 and at most a day")
        if temperature is not None and not 0 <= temperature <= MOST_JUDGE_TEMPERATURE:
            raise UsageError(
                f"--judge-temperature {temperature:g}: must be from 0 to {MOST_JUDGE_TEMPERATURE:g}"
            )
        if limit is not None and not 1 <= limit <= MOST_JUDGE_TOKENS:
            raise UsageError(f"--judge-max-tokens {limit}: must be from 1 to {MOST_JUDGE_TOKENS:,}")

    @property
    def endpoint(self) -> JudgeEndpoint | None:
        """The judge that the options name; None where they name none."""
        if self.judge_url is None or self.judge_model is None:
            return None
        from loadgen.sessions.secrets import lines

        return JudgeEndpoint(
            self.judge_url,
            self.judge_model,
            self.judge_concurrency,
            self.judge_timeout,
            lines("--judge-api-key", self.judge_api_key)[0] if self.judge_api_key else None,
            self.judge_temperature,
            self.judge_max_tokens,
        )
