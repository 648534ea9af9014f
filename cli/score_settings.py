"""The options of `loadgen score`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError
from cli.prices import Prices
from cli.report import Run
from cli.scoring.options import (
    DEFAULT_GRADER_TIMEOUT_S,
    DEFAULT_JUDGE_CONCURRENCY,
    DEFAULT_JUDGE_TIMEOUT_S,
)
from cli.scoring_options import (
    SCORING,
    AllowCodeExecution,
    EvalFunctions,
    JudgeApiKey,
    JudgeConcurrency,
    JudgeModel,
    JudgeTimeout,
    JudgeUrl,
    Scorers,
    check_judge,
)

MOST_PROCESSES = 1024
MOST_TIMEOUT_S = 86_400.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSettings:
    """What can be said to `loadgen score`; field by field an option."""

    run: Run
    scorer: Scorers = field(default_factory=list)
    eval_function: EvalFunctions = field(default_factory=list)
    allow_code_execution: AllowCodeExecution = False
    judge_url: JudgeUrl = None
    judge_model: JudgeModel = None
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    judge_concurrency: JudgeConcurrency = DEFAULT_JUDGE_CONCURRENCY
    judge_timeout: JudgeTimeout = DEFAULT_JUDGE_TIMEOUT_S
    reparse: Annotated[
        bool,
        typer.Option(
            "--reparse",
            help="Ask no judge, and read again what judges have said; with --judge-model only that one.",
            rich_help_panel=SCORING,
        ),
    ] = False
    grader_timeout: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="The most that grading one answer may take, ten times as much where programs are run.",
            show_default="2m",
            rich_help_panel=SCORING,
        ),
    ] = DEFAULT_GRADER_TIMEOUT_S
    processes: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="So many processes grade; by default one a core.", rich_help_panel=SCORING
        ),
    ] = None
    pass_number: Annotated[
        int | None,
        typer.Option("--pass", metavar="N", help="Score nothing, and report this earlier pass."),
    ] = None
    prices: Prices = None
    json: Annotated[bool, typer.Option("--json", help="Print report.json instead of the console report.")] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False

    def check(self) -> None:
        """Refuse what contradicts itself or is out of bounds.

        Raises:
            UsageError: It does, or is.
        """
        if self.pass_number is not None:
            self._check_only_pass()
        if not self.reparse:
            check_judge(self.judge_url, self.judge_model, self.judge_concurrency, self.judge_timeout)
        elif self.judge_url is not None:
            raise UsageError("--reparse asks no judge: leave --judge-url out")
        if self.processes is not None and not 1 <= self.processes <= MOST_PROCESSES:
            raise UsageError(f"--processes {self.processes}: must be from 1 to {MOST_PROCESSES}")
        if not 0 < self.grader_timeout <= MOST_TIMEOUT_S:
            raise UsageError(f"--grader-timeout {self.grader_timeout:g}: must be above 0 and at most a day")

    def _check_only_pass(self) -> None:
        others = {
            "--scorer": self.scorer,
            "--eval": self.eval_function,
            "--allow-code-execution": self.allow_code_execution,
            "--judge-url": self.judge_url,
            "--judge-model": self.judge_model,
            "--reparse": self.reparse,
            "--processes": self.processes,
        }
        if given := [option for option, value in others.items() if value]:
            raise UsageError(f"--pass {self.pass_number} scores nothing: leave {given[0]} out")
