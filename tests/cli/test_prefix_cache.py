"""Runs one after the other on a server with a cache: synthetic prompts do not hit, and hits are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess


@pytest.fixture
def caching() -> Iterator[MockProcess]:
    """A server that answers at once what it was asked before, and says so."""
    with start_mock(ttft="20ms", itl="0", tokens="4", cache=True) as server:
        yield server


def cached(loadgen: Any, run: object) -> tuple[int, int]:
    """The cached and all prompt tokens of a run."""
    tokens = orjson.loads(loadgen("report", run, "--json").stdout)["tokens"]
    return tokens["cached"], tokens["input"]


@pytest.mark.parametrize("options", [(), ("--input-tokens", "60", "--shared-prefix", "20x2")])
def test_no_point_of_a_sweep_and_no_later_run_finds_its_prompts_in_the_cache(
    loadgen: Any, caching: MockProcess, options: tuple[str, ...]
) -> None:
    """Each run has its own texts; the lengths, and so the dataset, are the same."""
    common = ("--url", caching.url, "--model", "m", "-n", 6, "-q", *options, "--on-invalid", "warn")
    swept = loadgen("sweep", *common, "-c", "1,2", "--out", "sweep")
    assert "prefix cache" not in swept.stdout
    assert loadgen("perf", *common, "-c", 1, "--out", "again").returncode == 0
    runs = ("sweep/01-concurrency-1", "sweep/02-concurrency-2", "again")
    assert [cached(loadgen, run)[0] for run in runs] == [0, 0, 0]
    compared = orjson.loads(loadgen("compare", "sweep/01-concurrency-1", "again", "--json").stdout)
    assert {each["about"] for each in compared["unlike"]} <= {"validity", "settings"}


def test_hits_are_named_where_points_and_sides_differ(
    loadgen: Any, caching: MockProcess, tmp_path: Path
) -> None:
    """Prompts of a file are sent as they are: the second point has all of them from the cache."""
    rows = (f'{{"prompt": "{number} is a number, is it not?"}}\n' for number in range(6))
    (tmp_path / "p.jsonl").write_text("".join(rows))
    common = ("--url", caching.url, "--model", "m", "-n", 6, "--prompts", "p.jsonl", "--on-invalid", "warn")
    swept = loadgen("sweep", *common, "-q", "-c", "1,2", "--out", "sweep")
    assert "0 % at 01-concurrency-1, 100 % at 02-concurrency-2" in " ".join(swept.stdout.split())
    runs = ("sweep/01-concurrency-1", "sweep/02-concurrency-2")
    assert [cached(loadgen, run)[0] > 0 for run in runs] == [False, True]
    compared = orjson.loads(loadgen("compare", *runs, "--json").stdout)
    assert ("cache", "cached_pct", 100.0, 0.0) in [
        (each["about"], each["what"], each["value"], each["reference_value"]) for each in compared["unlike"]
    ]


def test_a_text_seed_repeats_the_texts(loadgen: Any, caching: MockProcess) -> None:
    """As the log of a run has it: with that the same prompts are sent again."""
    common = ("--url", caching.url, "--model", "m", "-n", 4, "-c", 1, "-q", "--on-invalid", "warn")
    assert loadgen("perf", *common, "--out", "one").returncode == 0
    stored = orjson.loads(
        loadgen("sql", "one", "select settings from session", "-f", "json").stdout.splitlines()[0]
    )["settings"]
    seed = (orjson.loads(stored) if isinstance(stored, str) else stored)["options"]["text_seed"]
    assert seed > 0
    assert loadgen("perf", *common, "--text-seed", seed, "--out", "two").returncode == 0
    hits, inputs = cached(loadgen, "two")
    assert hits == inputs > 0
