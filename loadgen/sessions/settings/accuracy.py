"""The options of `loadgen accuracy`."""

from __future__ import annotations

from typing import Annotated, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.settings.benchmark_options import TaskSettings
from loadgen.sessions.settings.concerns import changed
from loadgen.sessions.settings.load_options import LoadSettings
from loadgen.sessions.settings.option import Argument
from loadgen.sessions.settings.perf import PerfSettings
from loadgen.sessions.settings.price_options import Prices
from workloads.catalog import canonical, fact
from workloads.registry import at

CONCURRENCY: Final = 16
"""The load where none is given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedTaskSettings(TaskSettings):
    """Options of benchmarks, of which at least one is asked."""

    task: Annotated[
        list[str],
        Argument(
            parser=canonical,
            metavar="TASK…",
            help="Benchmarks, optionally with options, as in mmlu_pro:shots=0 (see loadgen list "
            "tasks); or files with user_prompt and ground_truth.",
            show_default=False,
        ),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class AccuracySettings(PerfSettings):
    """The options of `loadgen accuracy`: its benchmarks, and all options of `loadgen perf`."""

    tasks: AskedTaskSettings
    prices: Prices = None


def has_load(load: LoadSettings) -> bool:
    """Whether the settings say how the endpoint is loaded."""
    return load.offline or any(chosen is not None for chosen in (load.concurrency, load.rate, load.stages))


def with_load(settings: AccuracySettings) -> AccuracySettings:
    """The session with the endpoints that its benchmarks know, and with a load where none was given."""
    for place in dict.fromkeys(fact(task, "endpoint") for task in settings.tasks.task):
        settings = at(place)(settings) if place else settings
    concurrency = 1 if settings.episodes.sequential else CONCURRENCY
    return settings if has_load(settings.load) else changed(settings, concurrency=concurrency)
