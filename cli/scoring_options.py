"""The options that say how answers are scored: of every command that scores, declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError

if TYPE_CHECKING:
    from cli.scoring.options import Judge

SCORING: Final = "Scoring"

DEFAULT_PASS_THRESHOLD: Final = 1.0
MOST_JUDGE_CONCURRENCY: Final = 10_000
MOST_JUDGE_TIMEOUT_S: Final = 86_400.0

Scorers = Annotated[
    list[str],
    typer.Option(
        "--scorer",
        metavar="[TASK=]NAME",
        help="Score by this definition in place of the official one, of every task that has it or of one; "
        "repeatable.",
        rich_help_panel=SCORING,
    ),
]
EvalFunctions = Annotated[
    list[str],
    typer.Option(
        "--eval",
        metavar="MODULE:FUNCTION",
        help="Score by a function of yours as well; repeatable.",
        rich_help_panel=SCORING,
    ),
]
AllowCodeExecution = Annotated[
    bool,
    typer.Option(
        "--allow-code-execution",
        help="Run the programs that the model wrote, where a benchmark is scored by running them.",
        rich_help_panel=SCORING,
    ),
]
PassThreshold = Annotated[
    float,
    typer.Option(
        metavar="VALUE",
        help="From which value on a sample has passed, for pass@k and pass^k.",
        rich_help_panel=SCORING,
    ),
]
JudgeUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The endpoint that judges answers, where a benchmark needs a judge.",
        rich_help_panel=SCORING,
    ),
]
JudgeModel = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model that judges.", rich_help_panel=SCORING),
]
JudgeApiKey = Annotated[
    str | None,
    typer.Option(
        envvar="LOADGEN_JUDGE_API_KEY",
        show_envvar=True,
        help="The judge's key, better given in the environment; @FILE reads it from a file. Never in the "
        "log.",
        rich_help_panel=SCORING,
    ),
]
JudgeConcurrency = Annotated[
    int,
    typer.Option(
        metavar="N", help="So many requests to the judge are in flight at most.", rich_help_panel=SCORING
    ),
]
JudgeTimeout = Annotated[
    float,
    typer.Option(
        parser=seconds,
        metavar="TIME",
        help="For each request to the judge.",
        show_default="2m",
        rich_help_panel=SCORING,
    ),
]


def check_judge(url: str | None, model: str | None, concurrency: int, timeout_s: float) -> None:
    """Refuse a judge that is said by half, or limits that are none.

    Args:
        url: What `--judge-url` says.
        model: What `--judge-model` says.
        concurrency: What `--judge-concurrency` says.
        timeout_s: What `--judge-timeout` says, in seconds.

    Raises:
        UsageError: What is missing, or out of bounds.
    """
    if (url is None) != (model is None):
        given, missing = ("url", "model") if model is None else ("model", "url")
        raise UsageError(f"--judge-{given}: a judge is an endpoint and a model: give --judge-{missing} too")
    if not 1 <= concurrency <= MOST_JUDGE_CONCURRENCY:
        raise UsageError(f"--judge-concurrency {concurrency}: must be from 1 to {MOST_JUDGE_CONCURRENCY}")
    if not 0 < timeout_s <= MOST_JUDGE_TIMEOUT_S:
        raise UsageError(f"--judge-timeout {timeout_s:g}: must be above 0 and at most a day")


def judge_of(
    url: str | None, model: str | None, api_key: str | None, concurrency: int, timeout_s: float
) -> Judge | None:
    """The judge that the options name; None where they name none.

    Raises:
        UsageError: Its key cannot be read.
    """
    if url is None or model is None:
        return None
    from cli.scoring.options import Judge
    from cli.secrets import lines

    key = lines("--judge-api-key", api_key)[0] if api_key else None
    return Judge(url, model, concurrency, timeout_s, key)
