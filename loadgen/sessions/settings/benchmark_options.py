"""The options of benchmarks: their choice, their data, repetitions, and scoring."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.kinds import canonical_task
from loadgen.sessions.settings.option import OptionValueError, Panel
from loadgen.sessions.settings.scoring import SCORING, JudgeSettings, ScorerSettings

if TYPE_CHECKING:
    from loadgen.sessions.settings.load_options import LoadSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings

BENCHMARKS: Final = Panel("Benchmarks")
MOST_REPEATS: Final = 100_000

_OF_SANDBOXES: Final = ("allow_code_execution", "sandbox", "sandbox_image")
_OF_BENCHMARKS: Final = (
    *("data", "samples", "sample_order", "system_prompt", "offset", "split", "record_ids", "repeats"),
    *("columns", "scorer", "eval_function", "pass_threshold", "judge_url", "judge_concurrency"),
    *("judge_timeout", "judge_temperature", "judge_max_tokens"),
)
"""Options that need a benchmark; an agent needs a sandbox without one, too."""

_OTHER_QUESTIONS: Final = (
    *("input_tokens", "output_tokens", "turns", "shared_prefix", "cache_hit", "corpus", "text_seed"),
    "tokenizer",
)


def system_prompt_of(value: str) -> str:
    """Read a system prompt: the text itself, or of `@FILE` what the file says."""
    if not value.startswith("@"):
        text = value
    else:
        try:
            text = Path(value[1:]).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise OptionValueError(f"{value[1:]} cannot be read ({why})") from error
    if not text.strip():
        raise OptionValueError("empty; leave it out")
    return text.strip()


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskSettings:
    """The options of benchmarks, one per field."""

    task: list[str] = BENCHMARKS.option(
        "Send and score a benchmark (loadgen list tasks), or a file with user_prompt and ground_truth; "
        "repeatable.",
        [],
        parser=canonical_task,
        metavar="NAME[:OPTION=VALUE,…]|FILE",
    )
    data: Path | None = BENCHMARKS.option(
        "Folder of the benchmarks' data. Default: fetched from the hub.", metavar="DIR"
    )
    cache_dir: str | None = BENCHMARKS.option(
        "Cache of fetched benchmark data. Default: loadgen/data in the user's cache.",
        envvar=("LOADGEN_CACHE",),
        metavar="FOLDER",
    )
    samples: int | None = BENCHMARKS.option(
        "Send N questions of each benchmark, drawn by --seed from all groups."
    )
    sample_order: Literal["shuffle", "file"] | None = BENCHMARKS.option(
        "How --samples chooses: shuffle draws questions in proportion to the benchmark's groups, file "
        "takes the first ones. Default: shuffle; with --offset, file."
    )
    offset: int = BENCHMARKS.option("Skip the first N questions.", 0)
    split: str | None = BENCHMARKS.option(
        "Another split of the benchmark's data, such as validation. Default: the official one.",
        metavar="NAME",
    )
    record_ids: list[str] = BENCHMARKS.option(
        "Send only the questions with these ids (see loadgen list prompts); repeatable.", [], metavar="ID,…"
    )
    repeats: int | None = BENCHMARKS.option("Send each question N times, for pass@k and narrower intervals.")
    columns: list[str] = BENCHMARKS.option(
        "Of a file: the column that holds user_prompt, system_prompt or ground_truth; repeatable.",
        [],
        "--map",
        metavar="NAME=COLUMN",
    )

    system_prompt: str | None = BENCHMARKS.option(
        "System prompt before each question; a benchmark's own system prompt follows.",
        parser=system_prompt_of,
        metavar="TEXT|@FILE",
    )

    scoring: ScorerSettings = field(default_factory=ScorerSettings)
    pass_threshold: float = SCORING.option(
        "From which value on a sample has passed, for pass@k and pass^k.", 1.0, metavar="VALUE"
    )
    judge: JudgeSettings = field(default_factory=JudgeSettings)

    def check(self, prompts: PromptSettings, load: LoadSettings, *, has_agent: bool) -> None:
        """Refuse options that contradict each other."""
        if self.task:
            self._check_questions(prompts, load)
        elif set_options := set_flags(self, *(() if has_agent else _OF_SANDBOXES), *_OF_BENCHMARKS):
            raise UsageError(
                f"{' and '.join(set_options)}: applies to benchmarks: give --task, or use loadgen accuracy"
            )
        if not math.isfinite(self.pass_threshold):
            raise UsageError(f"--pass-threshold {self.pass_threshold}: must be a number")
        self.judge.check()
        self.scoring.check()

    @property
    def has_own_data(self) -> bool:
        """Whether the questions of a benchmark are a file of the user's."""
        if not self.task:
            return False
        from workloads.own_data import is_own

        return any(map(is_own, self.task))

    def _check_questions(self, prompts: PromptSettings, load: LoadSettings) -> None:
        others = [
            *set_flags(prompts, "prompts"),
            *set_flags(load, "trace"),
            *set_flags(prompts, *_OTHER_QUESTIONS),
        ]
        if others:
            raise UsageError(
                f"--task and {' and '.join(others)} contradict each other: each names the prompts"
            )
        if changed := set_flags(prompts, "salt", "ignore_eos"):
            raise UsageError(f"{' and '.join(changed)}: changes the benchmark's questions; leave it out")
        if prompts.only_prompt is not None:
            raise UsageError(
                f"--only-prompt {prompts.only_prompt}: of a benchmark, --offset {prompts.only_prompt} "
                "--samples 1 asks one question"
            )
        if self.columns and not self.has_own_data:
            raise UsageError(
                "--map: applies to the columns of a file, and benchmarks have their own; leave it out"
            )
        if self.record_ids and (self.samples is not None or self.offset or len(self.task) > 1):
            raise UsageError(
                "--record-ids names the questions of one benchmark: leave --samples and --offset out, and "
                "name one --task"
            )
        if self.record_ids and not self.wanted_ids:
            raise UsageError("--record-ids: no id is in it; leave it out")
        self._check_counts(prompts, load)

    @property
    def wanted_ids(self) -> tuple[str, ...]:
        """The ids of the only questions that are sent; empty for all."""
        parts = (part.strip() for ids in self.record_ids for part in ids.split(","))
        return tuple(dict.fromkeys(filter(None, parts)))

    @property
    def draws_samples(self) -> bool:
        """Whether the questions of `--samples` are drawn; else they are the first ones."""
        if self.samples is None:
            return False
        return self.sample_order == "shuffle" or (self.sample_order is None and not self.offset)

    def _check_counts(self, prompts: PromptSettings, load: LoadSettings) -> None:
        if self.sample_order is not None and self.samples is None:
            raise UsageError(f"--sample-order {self.sample_order}: says which --samples are asked; give both")
        if self.samples is not None and self.samples < 1:
            raise UsageError(f"--samples {self.samples}: must be 1 or more")
        if self.offset < 0:
            raise UsageError(f"--offset {self.offset}: must be 0 or more")
        if self.repeats is None:
            return
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise UsageError(f"--repeats {self.repeats}: must be from 1 to {MOST_REPEATS:,}")
        if counts := " and ".join(set_flags(load, "requests", "sessions", "passes")):
            raise UsageError(
                f"--repeats and {counts} contradict each other: each sets the number of requests"
            )
        if prompts.order in {"random", "weighted"}:
            raise UsageError(
                f"--repeats {self.repeats}: sends each question equally often, and --order "
                f"{prompts.order} draws them"
            )
