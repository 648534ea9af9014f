"""The options of `loadgen accuracy`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.perf_settings import PerfSettings
from cli.prices import Prices


@dataclass(frozen=True, kw_only=True, slots=True)
class AccuracySettings(PerfSettings):
    """What can be said about an accuracy session: everything that `loadgen perf` takes, and what is asked."""

    task: Annotated[
        list[str],
        typer.Argument(
            metavar="TASK…",
            help="Benchmarks, each with options of its own if wanted, as in mmlu_pro:shots=0 "
            "(see loadgen list tasks); or files with user_prompt and ground_truth.",
            show_default=False,
        ),
    ]
    prices: Prices = None
