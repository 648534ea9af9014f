"""The options of `loadgen score`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lazy_dataclasses import dataclass, field
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.cluster import CLUSTER
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.contradictions import check_judge, check_nodes, check_scorers
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import GENERAL
from loadgen.sessions.settings.price_options import Prices
from loadgen.sessions.settings.run_argument import Run
from loadgen.sessions.settings.scoring import (
    DEFAULT_GRADER_TIMEOUT_S,
    SCORING,
    JudgeSettings,
    ScorerSettings,
)
from loadgen.sessions.settings.scoring_choices import ScoringChoices, judge_of
from loadgen.sessions.settings.verdict_options import OnInvalid

MOST_PROCESSES = 1024
MOST_TIMEOUT_S = 86_400.0

_OF_A_NEW_PASS: Final = (
    *("scorer", "eval_function", "allow_code_execution", "sandbox", "sandbox_image", "judge_url"),
    *("judge_model", "judge_temperature", "judge_max_tokens", "reparse", "processes", "data", "ray"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """The options of `loadgen score`, one per field."""

    run: Run
    scoring: ScorerSettings = field(default_factory=ScorerSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
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
        """Refuse options that contradict each other or are out of bounds."""
        scoring = set_flags(self, *_OF_A_NEW_PASS)
        if self.pass_number is not None and scoring:
            raise UsageError(f"--pass {self.pass_number} scores nothing: leave {scoring[0]} out")
        check_scorers(self.scoring)
        if not self.reparse:
            check_judge(self.judge)
        elif asking := set_flags(self.judge, "judge_url", "judge_temperature", "judge_max_tokens"):
            raise UsageError(f"--reparse asks no judge: leave {asking[0]} out")
        check_nodes(self.ray, self.nodes, "score")
        if self.data is not None and not self.data.is_dir():
            raise UsageError(f"--data {self.data}: the folder does not exist")
        if self.processes is not None and not 1 <= self.processes <= MOST_PROCESSES:
            raise UsageError(f"--processes {self.processes}: must be from 1 to {MOST_PROCESSES}")
        if not 0 < self.grader_timeout <= MOST_TIMEOUT_S:
            raise UsageError(f"--grader-timeout {self.grader_timeout:g}: must be above 0 and at most a day")


def options_of(settings: ScoreSettings) -> ScoringChoices:
    """How the answers are scored."""
    return ScoringChoices(
        scorers=tuple(settings.scoring.scorer),
        evals=tuple(settings.scoring.eval_function),
        allow_code_execution=settings.scoring.allow_code_execution,
        judge=judge_of(settings.judge),
        judge_model=settings.judge.judge_model,
        reparse=settings.reparse,
        grader_timeout_s=settings.grader_timeout,
        processes=settings.processes,
        data=settings.data,
        sandbox=settings.scoring.place,
        ray=settings.ray,
        nodes=settings.nodes,
    )
