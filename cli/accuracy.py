"""`loadgen accuracy`: the questions of benchmarks, asked and scored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cli.accuracy_settings import AccuracySettings

CONCURRENCY: Final = 16


def accuracy(settings: AccuracySettings) -> None:
    """Ask an endpoint the questions of benchmarks, and score the answers.

    It is a session of [bold]loadgen perf[/bold] with --task: the log has the answers, and the report both the
    accuracy and how fast they came. Each question is asked once (--repeats), 16 at a time, at the
    temperature of the benchmark, or else 0. [bold]loadgen score[/bold] scores the same answers again.

    [bold]Examples[/bold]

    loadgen accuracy gsm8k --data data --url http://127.0.0.1:8000 --model llama

    loadgen accuracy ifeval gpqa --url $URL --model llama --require 'accuracy.ifeval:value>=0.75'

    loadgen accuracy questions.jsonl --map ground_truth=answer --eval graders:exact --url $URL --model llama
    """
    from cli.perf import run, tell
    from cli.prices import load

    prices = load(settings.prices)
    tell(*run(_with_load(settings), prices), settings)


def _with_load(settings: AccuracySettings) -> AccuracySettings:
    """The same session with a load, where none was given."""
    if settings.offline or any(
        given is not None for given in (settings.concurrency, settings.rate, settings.stages)
    ):
        return settings
    return replace(settings, concurrency=CONCURRENCY)
