"""Traces and earlier runs are replayed at their times and with their lengths, as the server sees them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.measurement import dataset_findings
from loadgen.sessions.run.replay import replayed_requests
from tests.remembered_logs import remembered_log
from workloads.traces.replayed import questions
from workloads.traces.replayed_part import TracePart, read_trace

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

TRACES = Path(__file__).parents[2] / "examples" / "traces"


@pytest.fixture
def perf(mock: MockProcess, loadgen: Loadgen, tmp_path: Path) -> Callable[..., Path]:
    """A run against the mock endpoint; its folder."""

    def run(name: str, *options: object) -> Path:
        target = ("--url", mock.url, "--model", "small-model", "--api-key", "sk-right-key")
        done = loadgen("perf", *target, "-q", "--workers", 1, "--out", tmp_path / name, *options)
        assert done.returncode in {0, 4}, done.stderr  # 4: a busy machine makes the client late
        return tmp_path / name

    return run


def requests_of(run: Path, phase: str = "performance") -> list[tuple[Any, ...]]:
    """Of each request: when it was due in ns, and the tokens that the server counted, in and out."""
    with remembered_log(run) as log:
        return log.execute(
            "SELECT scheduled_ns, input_tokens, output_tokens FROM samples "
            "WHERE phase = ? AND status = 'completed' ORDER BY prompt_id, turn",
            [phase],
        ).fetchall()


def texts_of(run: Path) -> list[tuple[Any, ...]]:
    """Each prompt of a run, and what later turns of conversations add."""
    with remembered_log(run, ("prompts",)) as log:
        return log.execute("SELECT prompt_id, turn, prompt FROM prompts ORDER BY ALL").fetchall()


@pytest.mark.parametrize(("name", "speed"), [("mooncake.jsonl", 2.0), ("azure-2023.csv", 2.5)])
def test_a_trace_is_replayed(perf: Callable[..., Path], name: str, speed: float) -> None:
    """Every request is due at its time by the speed, and has the lengths of the trace."""
    run = perf("run", "--trace", TRACES / name, "--trace-speed", speed, "--ignore-eos")
    trace, requests = read_trace(TRACES / name, TracePart()), requests_of(run)
    start_ns = requests[0][0]
    assert [due - start_ns for due, _, _ in requests] == [
        round(offset_ns / speed) for offset_ns in trace.offsets_ns
    ]
    # The mock counts words, and a word is taken for 1.3 tokens; of Mooncake's blocks each is rounded.
    assert [inputs for _, inputs, _ in requests] == [
        sum(round(min(512, left) / 1.3) for left in range(tokens, 0, -512))
        if trace.blocks
        else round(tokens / 1.3)
        for tokens in trace.inputs
    ]
    assert [outputs for _, _, outputs in requests] == list(trace.outputs)


@pytest.mark.slow
def test_the_warm_up_is_the_beginning_of_the_trace(perf: Callable[..., Path]) -> None:
    """What is measured follows on it, and begins at 0."""
    run = perf("run", "--trace", TRACES / "azure-2023.csv", "--warmup", 2, "--trace-speed", 10, "-n", 2)
    assert [inputs for _, inputs, _ in requests_of(run, "warmup")] == [round(480 / 1.3), round(318 / 1.3)]
    measured = requests_of(run)
    assert [inputs for _, inputs, _ in measured] == [round(11 / 1.3), round(34 / 1.3)]
    assert measured[1][0] - measured[0][0] == 91_785_200


@pytest.mark.slow
def test_a_run_is_replayed(perf: Callable[..., Path], made_run: Path) -> None:
    """The same texts, at the same distances by the speed, with answers as long as they were."""
    again = perf("again", "--trace", made_run, "--trace-speed", 0.5)
    assert texts_of(again) == texts_of(made_run)
    once, twice = requests_of(made_run), requests_of(again)
    assert [lengths for _, *lengths in twice] == [lengths for _, *lengths in once]
    dues = [sorted(due for due, *_ in requests) for requests in (once, twice)]
    gaps, slower = ([after - before for before, after in pairwise(due)] for due in dues)
    assert slower == [2 * gap for gap in gaps]


@pytest.mark.slow
def test_conversations_are_replayed(perf: Callable[..., Path]) -> None:
    """Each begins when it began, its user says the same, and recorded answers take the place of new ones."""
    lengths = ("--turns", 3, "--input-tokens", 20, "--shared-prefix", "10x2")
    first = perf("first", "--rate", 40, "--sessions", 4, *lengths)
    again = perf("again", "--trace", first, "--history", "recorded")
    assert len(texts_of(first)) == 12
    assert texts_of(again) == texts_of(first)
    assert [lengths for _, *lengths in requests_of(again)] == [lengths for _, *lengths in requests_of(first)]


@pytest.mark.parametrize(
    ("part", "count"),
    [
        (TracePart(), 10),
        (TracePart(requests=3), 3),
        (TracePart(span_ns=-1), 1),
        (TracePart(span_ns=-1, ahead=4), 5),
    ],
)
def test_part_of_a_run_is_replayed(made_run: Path, part: TracePart, count: int) -> None:
    """As much of it as was wanted."""
    dataset = replayed_requests(made_run, part)
    assert len(dataset.samples) == len(dataset.offsets_ns or ()) == count
    assert dataset.facts["trace"]["whole"] == (count == 10)
    assert {sample.max_tokens for sample in dataset.samples} == {4}
    assert replayed_requests(made_run / "events.db", part).sha256 == dataset.sha256


def test_a_run_without_its_texts_is_refused(a_run: Path) -> None:
    """What was asked is not known then; the message says of which prompt."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(a_run / "events.db")) as log:
        log.execute("UPDATE events SET texts = NULL WHERE code = 20")
        log.commit()
    with pytest.raises(UsageError, match="lacks the text of prompt"):
        replayed_requests(a_run, TracePart())


def test_a_run_has_its_own_texts(loadgen: Loadgen, a_run: Path) -> None:
    """A corpus has no use then, and is refused."""
    (a_run.parent / "corpus.txt").write_text("one two three")
    target = ("--url", "http://127.0.0.1:9", "--model", "small-model")
    run = loadgen("perf", *target, "--trace", a_run, "--corpus", "corpus.txt")
    assert run.returncode == 2
    assert "whose prompts are sent again" in run.stderr


def test_deviations_from_the_trace_are_reported() -> None:
    """Lengths that are approximate, and requests of a trace that were left out: a finding each."""
    trace = read_trace(TRACES / "burstgpt.csv", TracePart())
    findings = [event.data for event in dataset_findings(questions(trace, 0), 1)]
    codes = ["lengths_approximate", "trace_read_as", "trace_rows_left_out"]
    assert [finding["code"] for finding in findings] == codes
    assert findings[2]["message"].startswith("1 row of burstgpt.csv left out: without input or output tokens")
    exact = questions(read_trace(TRACES / "plain.csv", TracePart()), 0, lambda text: len(text.split()))
    assert [event.data["code"] for event in dataset_findings(exact, 1)] == ["trace_read_as"]
