"""`loadgen accuracy`: the questions of benchmarks, asked and scored."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.settings.accuracy import AccuracySettings


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
    from loadgen.cli.perf import finish
    from loadgen.cli.terminal.progress_observer import Terminal
    from loadgen.sessions.run_session import run
    from loadgen.sessions.settings.accuracy import with_load
    from loadgen.sessions.settings.price_options import load

    prices = load(settings.prices)
    terminal = Terminal(quiet=settings.output.quiet, live=not settings.output.no_live)
    with redirect_stdout(sys.stderr):  # Ray prints news of the cluster
        outcome = run(with_load(settings), prices, terminal)
    finish(*outcome, settings)
