"""Results per episode in a file: the question, the ending, the scores, times, turns and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest

from recorder import EventType
from reporter import MetricsReporter
from reporter.errors import OptionError
from reporter.sample_results import ResultOptions
from tests.reporter.accuracy.conftest import Benchmark
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run


@pytest.fixture
def played(a_run: Callable[..., Run]) -> Path:
    """Two questions, each asked by an episode of two turns of 10 ms; the second one stays open."""
    run = a_run()
    benchmark = Benchmark(run).asks("gsm8k", 2)
    for number in range(2):
        about = {"conversation": f"c{number}", "prompt_id": number, "episode": True}
        for turn in range(2):
            run.answers(
                *(100 * number + 20 * turn + 5, 100 * number + 20 * turn + 10),
                at_ms=100 * number + 20 * turn,
                uuid=f"request {number}{turn}",
                usage=(10, 3),
                issue={"about": {**about, "turn": turn}},
            )
    run.session(
        EventType.EPISODE_ENDED,
        45,
        conversation="c0",
        prompt_id=0,
        phase="performance",
        scheduled_ns=ns(0) - 4_000_000,
        begun_ns=ns(0) - 3_000_000,
        started_ns=ns(0) - 1_000_000,
        duration_ns=41_000_000,
        ending="completed",
        reason="stop",
        reward=0.5,
    )
    return benchmark.write()


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_one_row_an_episode(played: Path, tmp_path: Path, ending: str) -> None:
    """In every format; what an episode without an end lacks is NULL."""
    file = tmp_path / f"episodes.{ending}"
    with MetricsReporter(played) as reporter:
        assert reporter.dump_results(file, options=ResultOptions(episodes=True)) == 2
    columns = "question_id, attempt, ending, reward, turns, input_tokens, output_tokens, duration_ms, "
    columns += "waited_ms, setup_ms, model_ms, own_ms, finish_ms"
    rows = duckdb.sql(f"SELECT {columns} FROM '{file}' ORDER BY question_id").fetchall()  # noqa: S608
    times = (48.0, 1.0, 2.0, 20.0, 21.0, 5.0)
    assert rows == [
        ("question 0", 1, "completed", 0.5, 2, 20, 6, *times),
        ("question 1", 1, "none", *[None] * 10),
    ]


def test_a_run_without_episodes(a_run: Callable[..., Run], tmp_path: Path) -> None:
    """The message says which option has its rows."""
    with (
        MetricsReporter(Benchmark(a_run()).asks("gsm8k", 1).answers(0).write()) as reporter,
        pytest.raises(OptionError, match="no episodes: leave --episodes out, and use --samples"),
    ):
        reporter.dump_results(tmp_path / "e.csv", options=ResultOptions(episodes=True))
