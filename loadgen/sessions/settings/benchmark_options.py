"""The options of benchmarks: their choice, their data, repetitions, and scoring."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

from lazy_dataclasses import dataclass, field
from loadgen.sessions.settings.kinds import canonical_task
from loadgen.sessions.settings.option import OptionValueError, Panel
from loadgen.sessions.settings.scoring import SCORING, JudgeSettings, ScorerSettings

BENCHMARKS: Final = Panel("Benchmarks")


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

    @property
    def has_own_data(self) -> bool:
        """Whether the questions of a benchmark are a file of the user's."""
        if not self.task:
            return False
        from workloads.own_data import is_own

        return any(map(is_own, self.task))

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
