"""The options of benchmarks: which are asked, from where, how often, and how their answers are scored."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.errors import UsageError
from cli.prompt_settings import PromptSettings
from cli.scoring.options import DEFAULT_JUDGE_CONCURRENCY, DEFAULT_JUDGE_TIMEOUT_S
from cli.scoring_options import (
    DEFAULT_PASS_THRESHOLD,
    AllowCodeExecution,
    EvalFunctions,
    JudgeApiKey,
    JudgeConcurrency,
    JudgeModel,
    JudgeTimeout,
    JudgeUrl,
    PassThreshold,
    Scorers,
    check_judge,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

BENCHMARKS: Final = "Benchmarks"
MOST_REPEATS: Final = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSettings(PromptSettings):
    """What can be said about benchmarks; field by field an option."""

    task: Annotated[
        list[str],
        typer.Option(
            metavar="NAME[:OPTION=VALUE,…]|FILE",
            help="Ask the questions of a benchmark (see loadgen list tasks), or of a file with user_prompt "
            "and ground_truth, and score the answers when the run is over; repeatable.",
            rich_help_panel=BENCHMARKS,
        ),
    ] = field(default_factory=list)
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder that the data of the benchmarks is in; fetched from the hub without it.",
            rich_help_panel=BENCHMARKS,
        ),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Ask so many questions of each benchmark.", rich_help_panel=BENCHMARKS
        ),
    ] = None
    offset: Annotated[
        int,
        typer.Option(
            metavar="N", help="Leave out so many questions at the beginning.", rich_help_panel=BENCHMARKS
        ),
    ] = 0
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Ask each question so many times, for pass@k and narrower intervals.",
            rich_help_panel=BENCHMARKS,
        ),
    ] = None
    columns: Annotated[
        list[str],
        typer.Option(
            "--map",
            metavar="NAME=COLUMN",
            help="Of a file: the column that holds user_prompt, system_prompt or ground_truth; repeatable.",
            rich_help_panel=BENCHMARKS,
        ),
    ] = field(default_factory=list)

    scorer: Scorers = field(default_factory=list)
    eval_function: EvalFunctions = field(default_factory=list)
    allow_code_execution: AllowCodeExecution = False
    pass_threshold: PassThreshold = DEFAULT_PASS_THRESHOLD
    judge_url: JudgeUrl = None
    judge_model: JudgeModel = None
    judge_api_key: JudgeApiKey = field(default=None, repr=False)
    judge_concurrency: JudgeConcurrency = DEFAULT_JUDGE_CONCURRENCY
    judge_timeout: JudgeTimeout = DEFAULT_JUDGE_TIMEOUT_S

    def has_columns(self) -> bool:
        """Whether what is asked are rows with columns of the user's."""
        return self.prompts is not None or self._has_own_data()

    def check_tasks(self) -> None:
        """Refuse what contradicts itself."""
        if self.task:
            self._check_questions()
        elif given := _given(self._about_tasks()):
            raise UsageError(f"{given}: said of benchmarks: give --task, or use loadgen accuracy")
        if not math.isfinite(self.pass_threshold):
            raise UsageError(f"--pass-threshold {self.pass_threshold}: must be a number")
        check_judge(self.judge_url, self.judge_model, self.judge_concurrency, self.judge_timeout)

    def _has_own_data(self) -> bool:
        if not self.task:
            return False
        from workloads.tasks.own import is_own

        return any(map(is_own, self.task))

    def _about_tasks(self) -> dict[str, object]:
        return {
            "--data": self.data,
            "--samples": self.samples,
            "--offset": self.offset,
            "--repeats": self.repeats,
            "--map": self.columns,
            "--scorer": self.scorer,
            "--eval": self.eval_function,
            "--allow-code-execution": self.allow_code_execution,
            "--pass-threshold": self.pass_threshold != DEFAULT_PASS_THRESHOLD,
            "--judge-url": self.judge_url,
            "--judge-concurrency": self.judge_concurrency != DEFAULT_JUDGE_CONCURRENCY,
            "--judge-timeout": self.judge_timeout != DEFAULT_JUDGE_TIMEOUT_S,
        }

    def _check_questions(self) -> None:
        others = {
            "--prompts": self.prompts,
            "--trace": self.trace,
            "--input-tokens": self.input_tokens,
            "--output-tokens": self.output_tokens,
            "--turns": self.turns,
            "--shared-prefix": self.shared_prefix,
            "--corpus": self.corpus,
            "--tokenizer": self.tokenizer,
        }
        if given := _given(others):
            raise UsageError(f"--task and {given} contradict each other: each says what is asked")
        changed = {"--salt": self.salt, "--ignore-eos": self.ignore_eos}
        if given := _given(changed):
            raise UsageError(f"{given}: then it is not the benchmark's question any more; leave it out")
        if self.only_prompt is not None:
            raise UsageError(
                f"--only-prompt {self.only_prompt}: of a benchmark, --offset {self.only_prompt} --samples 1 "
                "asks one question"
            )
        if self.columns and not self._has_own_data():
            raise UsageError(
                "--map: said of the columns of a file, and the benchmarks have theirs; leave it out"
            )
        self._check_counts()

    def _check_counts(self) -> None:
        if self.samples is not None and self.samples < 1:
            raise UsageError(f"--samples {self.samples}: must be 1 or more")
        if self.offset < 0:
            raise UsageError(f"--offset {self.offset}: must be 0 or more")
        if self.repeats is None:
            return
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise UsageError(f"--repeats {self.repeats}: must be from 1 to {MOST_REPEATS:,}")
        counts = {
            "--requests": self.requests,
            "--sessions": self.sessions,
            "--passes": self.passes,
        }
        if given := _given(counts):
            raise UsageError(f"--repeats and {given} contradict each other: each says how much is asked")
        if self.order in {"random", "weighted"}:
            raise UsageError(
                f"--repeats {self.repeats}: asks each question as often as every other, and --order "
                f"{self.order} draws them"
            )


def _given(options: Mapping[str, object]) -> str:
    """The options that were given, for a message; empty when none was."""
    return " and ".join(option for option, value in options.items() if value not in (None, [], 0))
