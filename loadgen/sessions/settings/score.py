"""The options of `loadgen score`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.cluster import CLUSTER, check_nodes
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import GENERAL
from loadgen.sessions.settings.prices import Prices
from loadgen.sessions.settings.run_argument import Run
from loadgen.sessions.settings.scoring import (
    SCORING,
    AllowCodeExecution,
    EvalFunctions,
    JudgeApiKey,
    JudgeConcurrency,
    JudgeMaxTokens,
    JudgeModel,
    JudgeTemperature,
    JudgeTimeout,
    JudgeUrl,
    SandboxImage,
    SandboxOfPrograms,
    Scorers,
    check_judge,
    check_sandbox,
    judge_of,
    sandbox_of,
)
from loadgen.sessions.settings.scoring_choices import (
    DEFAULT_GRADER_TIMEOUT_S,
    DEFAULT_JUDGE_CONCURRENCY,
    DEFAULT_JUDGE_TIMEOUT_S,
    ScoringChoices,
)
from loadgen.sessions.settings.verdict import OnInvalid

MOST_PROCESSES = 1024
MOST_TIMEOUT_S = 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """The options of `loadgen score`, one per field."""

    run: Run
    scorer: Scorers = field(default_factory=list)
    eval_function: EvalFunctions = field(default_factory=list)
    allow_code_execution: AllowCodeExecution = False
    sandbox: SandboxOfPrograms = "local"
    sandbox_image: SandboxImage = None
    judge_url: JudgeUrl = None
    judge_model: JudgeModel = None
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    judge_concurrency: JudgeConcurrency = DEFAULT_JUDGE_CONCURRENCY
    judge_timeout: JudgeTimeout = DEFAULT_JUDGE_TIMEOUT_S
    judge_temperature: JudgeTemperature = None
    judge_max_tokens: JudgeMaxTokens = None
    reparse: bool = SCORING.switch(
        "Call no judge, and parse existing replies again; with --judge-model only that model's."
    )
    grader_timeout: Seconds = SCORING.option(
        "Time limit for grading one answer; ten times as long for scorers that run programs.",
        DEFAULT_GRADER_TIMEOUT_S,
    )
    processes: int | None = SCORING.option(
        "Number of grading processes, with --ray on each node. Default: one per core."
    )
    data: Path | None = SCORING.option(
        "A folder with models that graders need and that are not installed: nltk_punkt for ifeval.",
        metavar="DIR",
    )
    ray: str | None = CLUSTER.option(
        "Grade on the nodes of a Ray cluster: on this machine, or at an address.", metavar="auto|ADDRESS"
    )
    nodes: int | None = CLUSTER.option("With --ray: the number of nodes. Default: all nodes with CPUs.")
    pass_number: int | None = GENERAL.option("Score nothing, and report this earlier pass.", flags="--pass")
    prices: Prices = None
    on_invalid: OnInvalid = None
    json: Json = False
    quiet: bool = GENERAL.switch("No progress.", "-q")

    def check(self) -> None:
        """Refuse options that contradict each other or are out of bounds.

        Raises:
            UsageError: Some do, or are.
        """
        if self.pass_number is not None:
            self._check_only_pass()
        check_sandbox(self)
        if not self.reparse:
            check_judge(self)
        else:
            self._check_reparse()
        check_nodes(self.ray, self.nodes, "score")
        if self.data is not None and not self.data.is_dir():
            raise UsageError(f"--data {self.data}: the folder does not exist")
        if self.processes is not None and not 1 <= self.processes <= MOST_PROCESSES:
            raise UsageError(f"--processes {self.processes}: must be from 1 to {MOST_PROCESSES}")
        if not 0 < self.grader_timeout <= MOST_TIMEOUT_S:
            raise UsageError(f"--grader-timeout {self.grader_timeout:g}: must be above 0 and at most a day")

    def _check_reparse(self) -> None:
        asking = {
            "--judge-url": self.judge_url,
            "--judge-temperature": self.judge_temperature,
            "--judge-max-tokens": self.judge_max_tokens,
        }
        if set_options := [option for option, value in asking.items() if value is not None]:
            raise UsageError(f"--reparse asks no judge: leave {set_options[0]} out")

    def _check_only_pass(self) -> None:
        others = {
            "--scorer": self.scorer,
            "--eval": self.eval_function,
            "--allow-code-execution": self.allow_code_execution,
            "--sandbox": self.sandbox != "local",
            "--sandbox-image": self.sandbox_image,
            "--judge-url": self.judge_url,
            "--judge-model": self.judge_model,
            "--judge-temperature": self.judge_temperature is not None,
            "--judge-max-tokens": self.judge_max_tokens,
            "--reparse": self.reparse,
            "--processes": self.processes,
            "--data": self.data,
            "--ray": self.ray,
        }
        if set_options := [option for option, value in others.items() if value]:
            raise UsageError(f"--pass {self.pass_number} scores nothing: leave {set_options[0]} out")


def options_of(settings: ScoreSettings) -> ScoringChoices:
    """How the answers are scored.

    Raises:
        UsageError: The judge's key cannot be read.
    """
    return ScoringChoices(
        scorers=tuple(settings.scorer),
        evals=tuple(settings.eval_function),
        allow_code_execution=settings.allow_code_execution,
        judge=judge_of(settings),
        judge_model=settings.judge_model,
        reparse=settings.reparse,
        grader_timeout_s=settings.grader_timeout,
        processes=settings.processes,
        data=settings.data,
        sandbox=sandbox_of(settings),
        ray=settings.ray,
        nodes=settings.nodes,
    )
