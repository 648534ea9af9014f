"""The options of scoring, declared once for every command that scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel
from loadgen.sessions.settings.scoring_choices import (
    DEFAULT_JUDGE_CONCURRENCY,
    DEFAULT_JUDGE_TIMEOUT_S,
    JudgeEndpoint,
)
from workloads.sandbox.base import SandboxKind, SandboxSpec

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
        """Refuse an image without containers.

        Raises:
            UsageError: There is one.
        """
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
        """Refuse half a judge, and limits that are out of bounds.

        Raises:
            UsageError: An option is missing, or out of bounds.
        """
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
        """The judge that the options name; None where they name none.

        Raises:
            UsageError: Its key cannot be read.
        """
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
