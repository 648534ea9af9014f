"""The options of scoring, declared once for every command that scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, Protocol

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import Panel

if TYPE_CHECKING:
    from loadgen.sessions.settings.scoring_choices import JudgeEndpoint
    from workloads.sandbox.base import SandboxKind, SandboxSpec

SCORING: Final = Panel("Scoring")

DEFAULT_PASS_THRESHOLD: Final = 1.0
MOST_JUDGE_CONCURRENCY: Final = 10_000
MOST_JUDGE_TIMEOUT_S: Final = 86_400.0
MOST_JUDGE_TEMPERATURE: Final = 10.0
MOST_JUDGE_TOKENS: Final = 10_000_000

Scorers = Annotated[
    list[str],
    SCORING.declares(
        "Score by this definition in place of the official one; repeatable.",
        "--scorer",
        metavar="[TASK=]NAME",
    ),
]
EvalFunctions = Annotated[
    list[str],
    SCORING.declares("Score by your own function as well; repeatable.", "--eval", metavar="MODULE:FUNCTION"),
]
AllowCodeExecution = Annotated[
    bool,
    SCORING.declares(
        "Run the programs that the model wrote, and the commands of episodes, in a sandbox.",
        "--allow-code-execution",
    ),
]
SandboxOfPrograms = Annotated[
    Literal["local", "docker", "none"],
    SCORING.declares(
        "Where to run model-written programs and commands: in isolated processes of this machine, or in "
        "containers. none: also where the kernel cannot isolate programs, so that they can do whatever "
        "you can.",
        "--sandbox",
    ),
]
SandboxImage = Annotated[
    str | None,
    SCORING.declares(
        "For containers: an image's name, a Dockerfile or its folder, or a root file system as .tar. "
        "Default: python:3.12-slim.",
        metavar="IMAGE|DIR|FILE",
    ),
]
PassThreshold = Annotated[
    float,
    SCORING.declares("From which value on a sample has passed, for pass@k and pass^k.", metavar="VALUE"),
]
JudgeUrl = Annotated[
    str | None, SCORING.declares("Endpoint of the judge model, for benchmarks with a judge.", metavar="URL")
]
JudgeModel = Annotated[str | None, SCORING.declares("Name of the judge model.", metavar="NAME")]
JudgeApiKey = Annotated[
    str | None,
    SCORING.declares(
        "The judge's API key, preferably in the environment; @FILE reads a file. Never logged.",
        envvar=("LOADGEN_JUDGE_API_KEY",),
    ),
]
JudgeConcurrency = Annotated[int, SCORING.declares("At most N requests to the judge in flight.")]
JudgeTimeout = Annotated[Seconds, SCORING.declares("Time limit of a request to the judge.")]

JudgeTemperature = Annotated[
    float | None,
    SCORING.declares(
        "Sampling temperature of the judge. Default: as in the benchmark's prompts.", metavar="T"
    ),
]
JudgeMaxTokens = Annotated[
    int | None,
    SCORING.declares(
        "The most output tokens of the judge, in place of the limit of the benchmark's prompts."
    ),
]


class SandboxSettings(Protocol):
    """The options of a command about the sandbox."""

    @property
    def sandbox(self) -> SandboxKind:
        """`--sandbox`."""

    @property
    def sandbox_image(self) -> str | None:
        """`--sandbox-image`."""


class JudgeSettings(Protocol):
    """The options of a command about the judge."""

    @property
    def judge_url(self) -> str | None:
        """`--judge-url`."""

    @property
    def judge_model(self) -> str | None:
        """`--judge-model`."""

    @property
    def judge_api_key(self) -> str | None:
        """`--judge-api-key`."""

    @property
    def judge_concurrency(self) -> int:
        """`--judge-concurrency`."""

    @property
    def judge_timeout(self) -> float:
        """`--judge-timeout`, in seconds."""

    @property
    def judge_temperature(self) -> float | None:
        """`--judge-temperature`."""

    @property
    def judge_max_tokens(self) -> int | None:
        """`--judge-max-tokens`."""


def check_judge(settings: JudgeSettings) -> None:
    """Refuse half a judge, and limits that are out of bounds.

    Raises:
        UsageError: An option is missing, or out of bounds.
    """
    url, model, concurrency = settings.judge_url, settings.judge_model, settings.judge_concurrency
    timeout_s, temperature, limit = (
        settings.judge_timeout,
        settings.judge_temperature,
        settings.judge_max_tokens,
    )
    if (url is None) != (model is None):
        present_option, missing = ("url", "model") if model is None else ("model", "url")
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
        raise UsageError(f"--judge-temperature {temperature:g}: must be from 0 to {MOST_JUDGE_TEMPERATURE:g}")
    if limit is not None and not 1 <= limit <= MOST_JUDGE_TOKENS:
        raise UsageError(f"--judge-max-tokens {limit}: must be from 1 to {MOST_JUDGE_TOKENS:,}")


def check_sandbox(settings: SandboxSettings) -> None:
    """Refuse an image without containers.

    Raises:
        UsageError: There is one.
    """
    if settings.sandbox_image is not None and settings.sandbox != "docker":
        raise UsageError(f"--sandbox-image {settings.sandbox_image}: needs --sandbox docker")


def sandbox_of(settings: SandboxSettings) -> SandboxSpec:
    """Where programs run."""
    from workloads.sandbox.base import SandboxSpec

    return SandboxSpec(settings.sandbox, image=settings.sandbox_image or "")


def judge_of(settings: JudgeSettings) -> JudgeEndpoint | None:
    """The judge that the options name; None where they name none.

    Raises:
        UsageError: Its key cannot be read.
    """
    if settings.judge_url is None or settings.judge_model is None:
        return None
    from loadgen.sessions.secrets import lines
    from loadgen.sessions.settings.scoring_choices import JudgeEndpoint

    api_key = settings.judge_api_key
    return JudgeEndpoint(
        settings.judge_url,
        settings.judge_model,
        settings.judge_concurrency,
        settings.judge_timeout,
        lines("--judge-api-key", api_key)[0] if api_key else None,
        settings.judge_temperature,
        settings.judge_max_tokens,
    )
